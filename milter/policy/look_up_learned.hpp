// Whether a sender was learned for the recipients of a message: they have written to it. The first question of decide()
// about a list, before the filters are asked. Pure but for what is learned meanwhile; noexcept; allocates nothing for
// ASCII except for the trace. Safe from any thread.
#pragma once

#include <optional>

#include "filter/address/tag_separators.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/look_up.hpp"

namespace bloomgate {

class Trace;

// A listing with the reason `learned` if each recipient has written to the sender; not-listed-for-all if some have;
// else nothing, also if not all recipients are known. `sender` is an address with case folded and tags kept. Tags of
// recipients are taken off by `recipient_delimiter`. Costs a look-up in memory for each recipient.
std::optional<Listing> look_up_learned(const Lists& lists, const Facts& facts, TagSeparators recipient_delimiter,
                                       const Entry& sender, Trace* trace) noexcept;

}  // namespace bloomgate
