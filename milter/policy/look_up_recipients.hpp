// Whether a sender is listed for each recipient of a message: since they have written to it, the first question of
// decide() about a list, or by pairs, where it is not listed for everybody. Pure but for what is learned meanwhile;
// noexcept; allocates nothing for ASCII except for the trace. Safe from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "filter/address/tag_separators.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/look_up.hpp"

namespace bloomgate {

class Trace;

// Why no recipient can be looked up: recipients-unknown, too-many-recipients. Nothing: each can.
std::optional<Reason> fault_of(const Recipients& recipients) noexcept;

// Whether an address can mean one recipient only. A mail server may take a name without a domain, or an address at the
// number of a machine, for any recipient. It may find another address in a local part with '%', '!' or '@', in quotes
// as well (Postfix: allow_percent_hack, swap_bangpath, resolve_dequoted_address).
bool names_one_recipient(const Entry& recipient) noexcept;

// A listing with the reason `learned` if each recipient has written to the sender; not-listed-for-all if some have;
// else nothing, also if not all recipients are known. `sender` is an address with case folded and tags kept. Tags of
// recipients are taken off by `recipient_delimiter`. Costs a look-up in memory for each recipient.
std::optional<Listing> look_up_learned(const Lists& lists, const Facts& facts, TagSeparators recipient_delimiter,
                                       const Entry& sender, Trace* trace) noexcept;

// `alone` is what look_up() has found of the sender: not listed; `learned` is what look_up_learned() has: nothing, or
// listed for some of the recipients. `alone` is returned as it is where no list holds pairs and nothing was learned.
//
// The sender is listed (listed-for-recipients) if each of the recipients has written to it or has a pair with it, in
// `extra` or in whichever whitelist. The list is then the first one whose pair counts.
// Otherwise the reason is that of `alone` if that was a fault of a list; else that of a fault met here; else
// not-listed-for-all if it is listed for one of them at least; else not-listed. Without knowing all recipients,
// nobody is looked up: recipients-unknown, too-many-recipients.
//
// `path` is the sender as it came, `entry` is the same with case folded and tags kept, for `extra`. Keys are made as
// each whitelist says, and tags of recipients are taken off by `recipient_delimiter` as well. A hit that a store has to
// confirm counts as in look_up(); one question at a time. Costs one look-up in the bits for each recipient and
// whitelist, and up to 323 exact ones.
Listing look_up_pairs(const Listing& alone, const std::optional<Listing>& learned, const Lists& lists,
                      const Facts& facts, TagSeparators recipient_delimiter, std::string_view path, const Entry& entry,
                      Trace* trace) noexcept;

}  // namespace bloomgate
