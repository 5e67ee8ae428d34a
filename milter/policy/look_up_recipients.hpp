// Whether a sender is listed for each recipient of a message: because the recipient has written to the sender, which
// decide() asks before any list, or by pairs, if the sender is not listed for all users. Pure except for what is
// learned meanwhile; noexcept; allocates nothing for ASCII except for the trace. Safe from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "filter/address/tag_separators.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/look_up.hpp"

namespace bloomgate {

class Trace;

// Why no recipient can be looked up: recipients-unknown, too-many-recipients. Nothing: all can be looked up.
std::optional<Reason> fault_of(const Recipients& recipients) noexcept;

// Whether an address can mean only one recipient. A mail server may deliver a name without a domain, or an address at
// an IP address, to any recipient. It may find another address in a local part with '%', '!' or '@', even in quotes
// (Postfix: allow_percent_hack, swap_bangpath, resolve_dequoted_address).
bool names_one_recipient(const Entry& recipient) noexcept;

// A listing with the reason `learned` if each recipient has written to the sender; not-listed-for-all if only some
// have. Otherwise nothing, also if not all recipients are known. `sender` is an address with case folded and tags kept.
// Tags of recipients are removed by `recipient_delimiter`. Costs a look-up in memory for each recipient.
std::optional<Listing> look_up_learned(const Lists& lists, const Facts& facts, TagSeparators recipient_delimiter,
                                       const Entry& sender, Trace* trace) noexcept;

// `alone` is the result of look_up() for the sender: not listed. `learned` is the result of look_up_learned(): nothing,
// or listed for some of the recipients. Returns `alone` unchanged if no list holds pairs and nothing was learned.
//
// The sender is listed (listed-for-recipients) if each of the recipients has written to it or has a pair with it, in
// `extra` or in any whitelist. The list is then the first one whose pair counts.
// Otherwise the reason is that of `alone` if that was a fault of a list; else that of a fault found here; else
// not-listed-for-all if the sender is listed for at least one recipient; else not-listed. If not all recipients are
// known, none is looked up: recipients-unknown, too-many-recipients.
//
// `path` is the sender as it arrived; `entry` is the same with case folded and tags kept, for `extra`. Keys are made as
// each whitelist requires, and tags of recipients are also removed by `recipient_delimiter`. If a store has to confirm
// a hit, look_up()'s rule applies, with one question at a time. Costs one look-up in the bits for each recipient and
// whitelist, and up to 323 exact ones.
Listing look_up_pairs(const Listing& alone, const std::optional<Listing>& learned, const Lists& lists,
                      const Facts& facts, TagSeparators recipient_delimiter, std::string_view path, const Entry& entry,
                      Trace* trace) noexcept;

}  // namespace bloomgate
