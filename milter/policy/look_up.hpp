// Which of the lists has a sender: the third part of decide(). Pure, noexcept; allocates nothing for ASCII but for the
// trace. Safe from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "milter/policy/decision.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

class Trace;

// What `reason` and `list` of a decision say: a listing, or why there is none. A sender that is on no list that could
// be asked is not listed, and the reason is that of the first list which could not.
struct Listing {
  bool is_listed = false;
  Reason reason = Reason::not_listed;
  std::string_view list = {};  // "extra", or the name of the whitelist that lists the sender or has the fault
};

// `path` is the sender as it came, from which each whitelist's own key is made; `entry` is it with case folded and tags
// kept. The exact list is asked first, then the whitelists in their order; the first that has the sender ends it.
Listing look_up(const Lists& lists, std::string_view path, const Entry& entry, Trace* trace) noexcept;

// The fault of the lists where there is nothing that anybody could be listed by.
std::optional<Listing> find_fault(const Lists& lists) noexcept;

// Those that any of the whitelists takes off.
TagSeparators all_separators(const Lists& lists) noexcept;

}  // namespace bloomgate
