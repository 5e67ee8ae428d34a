// What a decision looks senders up in, as the daemon has loaded it. Views: what they show must outlive the decision.
// All of it is immutable but for the damage of a whitelist; safe from any thread.
#pragma once

#include <span>
#include <string_view>

#include "filter/layout/filter_view.hpp"
#include "milter/policy/exact_list.hpp"

namespace bloomgate {

// What a decision asks of a loaded whitelist. Implementations are immutable but for the damage, which may be found at
// any moment by any thread's look-up; once true, damaged() stays true.
class Whitelist {
 public:
  virtual ~Whitelist() = default;
  virtual const FilterView& view() const noexcept = 0;
  virtual bool damaged() const noexcept = 0;
};

struct NamedWhitelist {
  std::string_view name;                 // for header fields and logs: letters, digits, dots, hyphens, underscores
  const Whitelist* whitelist = nullptr;  // null: configured, but not loaded
};

// A sender is listed where one whitelist, or `extra`, has it. A whitelist that is missing or damaged lists nobody and
// hinders no other; a missing `extra` lists nobody. Without `revoked` nobody knows who must not be delivered: where it
// is configured and not there, nothing is.
struct Lists {
  std::span<const NamedWhitelist> whitelists = {};  // in the order in which they are asked
  const ExactList* revoked = nullptr;
  const ExactList* extra = nullptr;
  bool revoked_is_configured = false;
};

}  // namespace bloomgate
