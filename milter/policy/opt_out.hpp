// Whether a recipient of the message has opted out: the first step of decide() for mail that may be delivered. It uses
// no list of senders, so its cost and its answer are the same for every sender. Pure, noexcept; allocates nothing for
// ASCII except for the trace. Safe from any thread.
#pragma once

#include <optional>

#include "filter/address/address.hpp"
#include "filter/address/tag_separators.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

class Trace;

// Whether the list `opt-out` has an address: itself, with or without its tag, or its domain. If the list is lost: true,
// since it may have had any address. `delimiter` is that of the mail server.
bool has_opted_out(const Lists& lists, const Entry& address, TagSeparators delimiter) noexcept;

// Why the message is checked for all its recipients: opted-out if one of them has opted out; no-opt-out-list if the
// list is lost; recipients-unknown or too-many-recipients if another recipient may have opted out, as
// names_one_recipient() says. Nothing: no recipient has opted out. Costs one look-up in the exact list for each
// recipient, of which the recorder keeps 1,000.
std::optional<Reason> find_opt_out(const Facts& facts, const Lists& lists, TagSeparators delimiter,
                                   Trace* trace) noexcept;

}  // namespace bloomgate
