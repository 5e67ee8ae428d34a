// All lists that a decision looks senders up in, as they were loaded: the whitelists, in the order of the
// configuration, and the exact lists. The supervisor makes it; from then on it is immutable and shared by all sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "milter/lists/loaded_filter.hpp"
#include "milter/policy/exact_list.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

// A whitelist, with its name in header fields and logs.
struct NamedFilter {
  std::string name;
  std::shared_ptr<const LoadedFilter> filter;  // null: it could not be loaded yet
  // A filter and its store could not be loaded at the last reload: one of them may still be on its way.
  bool awaits_pair = false;
};

struct ListParts {
  std::vector<NamedFilter> whitelists = {};
  std::shared_ptr<const ExactList> revoked = {};  // null: there is none
  std::shared_ptr<const ExactList> extra = {};    // null: there is none
  std::shared_ptr<const ExactList> opt_out = {};  // null: there is none
  // They are configured, and what they hold is no longer known.
  bool revoked_is_lost = false;
  bool extra_is_lost = false;
  bool opt_out_is_lost = false;
  // Their lines that are no entries: whom these were to name is treated as if the lines were not there.
  std::uint64_t revoked_left_out = 0;
  std::uint64_t extra_left_out = 0;
  std::uint64_t opt_out_left_out = 0;
};

class LoadedLists {
 public:
  LoadedLists() = default;  // empty
  explicit LoadedLists(ListParts parts) : parts_(std::move(parts)) {
    for (const NamedFilter& each : parts_.whitelists) views_.push_back({each.name, each.filter.get()});
  }
  // The views point into this object.
  LoadedLists(const LoadedLists&) = delete;
  LoadedLists& operator=(const LoadedLists&) = delete;

  const ListParts& parts() const noexcept { return parts_; }

  // Whose store has that identity; null if none has.
  const NamedFilter* with_store(std::uint64_t identity) const noexcept {
    for (const NamedFilter& each : parts_.whitelists) {
      if (each.filter && each.filter->store() != nullptr && each.filter->store()->identity() == identity) {
        return &each;
      }
    }
    return nullptr;
  }

  // In the form for decide(). Valid as long as the object.
  Lists lists() const noexcept {
    return {.whitelists = views_,
            .revoked = parts_.revoked.get(),
            .extra = parts_.extra.get(),
            .revoked_is_configured = parts_.revoked != nullptr || parts_.revoked_is_lost,
            .opt_out = parts_.opt_out.get(),
            .opt_out_is_configured = parts_.opt_out != nullptr || parts_.opt_out_is_lost};
  }

 private:
  ListParts parts_;
  std::vector<NamedWhitelist> views_;
};

}  // namespace bloomgate
