// Everything that a decision looks senders up in, as it was loaded: the whitelists, in the order of the configuration,
// and the exact lists beside them. Made by the supervisor; from then on immutable and shared by all sessions.
#pragma once

#include <memory>
#include <vector>

#include "milter/loaded_filter.hpp"
#include "milter/policy/exact_list.hpp"

namespace bloomgate {

struct LoadedLists {
  std::vector<std::shared_ptr<const LoadedFilter>> whitelists;  // null: it could not be loaded yet
  std::shared_ptr<const ExactList> revoked = std::make_shared<const ExactList>();
  std::shared_ptr<const ExactList> extra = std::make_shared<const ExactList>();
};

}  // namespace bloomgate
