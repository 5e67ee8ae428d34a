// The name before an address, as address books and mail programs write it: `"Doe, Anna" <anna@example.org>`. In lists
// only: the path of an envelope has none, and the daemon reads the From field in another way. Used by address.cpp.
// Pure; safe from any thread.
//
// Source: RFC 5322 section 3.4 (name-addr), of which less is taken.
#pragma once

#include <string_view>

#include "filter/address/reject_reason.hpp"

namespace bloomgate {

// Takes the name, and the space after it, off the front of `line`, which is neither blank nor a comment: up to the `<`
// of the address. Leaves a line alone that has no `<`, or an '@' without quotes before it: that is an address already.
//
// Strangers choose these names, and address books collect them. So a name is rejected if a person, or another program,
// could see another address in it, `"boss@partner.example" <mallory@evil.example>`, or several entries, `Ann, Joe
// <joe@example.org>`, or if it changes the direction of the text around it, or is itself not seen. Whatever else in a
// name is not seen is harmless, since the name is no part of the key. The same address twice, `joe@example.org
// <joe@example.org>`, is common and harmless. Linear, no allocation.
RejectReason skip_display_name(std::string_view& line) noexcept;

}  // namespace bloomgate
