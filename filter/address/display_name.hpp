// The name before an address, as address books and mail programs write it: `"Doe, Anna" <anna@example.org>`. In lists
// only: the path of an envelope has none, and the daemon reads the From field in another way. Used by address.cpp.
// Pure; safe from any thread.
//
// Source: RFC 5322 section 3.4 (name-addr); less than that is accepted.
#pragma once

#include <string_view>

#include "filter/address/reject_reason.hpp"

namespace bloomgate {

// Removes the name, and the space after it, from the front of `line`, which must be neither blank nor a comment. What
// remains starts with the `<` of the address. Leaves a line alone if it has no `<`. A line with an '@' without quotes
// before the `<` is an address already: it is left alone, too.
//
// Senders choose these names, and address books collect them. So a name is rejected in these cases:
// - A person or a program could see another address in it: `"boss@partner.example" <mallory@evil.example>`.
// - They could see several entries: `Ann, Joe <joe@example.org>`.
// - The name changes the direction of the text around it, or all of it is invisible.
// Other invisible characters in a name are harmless, since the name is no part of the key. A name that is the same
// address again, `joe@example.org <joe@example.org>`, is common and harmless, and is removed. Linear, no allocation.
RejectReason skip_display_name(std::string_view& line) noexcept;

}  // namespace bloomgate
