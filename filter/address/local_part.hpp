// The part before the '@': where it ends, and its canonical form. Used by address.cpp and the daemon's policy. Pure;
// safe from any thread.
//
// Sources: RFC 5321 section 4.1.2 (Dot-string, Quoted-string), RFC 6531 section 3.3 (both with UTF-8), Unicode 3.13,
// definition D145 (caseless matching of canonically equivalent strings).
#pragma once

#include <cstddef>
#include <string_view>

#include "filter/address/address_profile.hpp"
#include "filter/address/limits.hpp"
#include "filter/address/reject_reason.hpp"
#include "filter/base/fixed_text.hpp"

namespace bloomgate {

using LocalPart = FixedText<kMaxLocalPartBytes>;

inline constexpr std::size_t kUnterminated = std::string_view::npos;

// How many bytes at the front of `text` are its local part: a quoted string with its quotes (kUnterminated if the
// second quote is missing), otherwise all characters that need no quotes.
std::size_t local_part_extent(std::string_view text) noexcept;

// Appends the canonical form of a local part to the empty `out`. `text` is the part that local_part_extent() has
// measured, at most kMaxInputBytes. If there is no such form, returns the reason. The form has no escapes and is in
// NFC. It is folded to one case unless the profile keeps the case, and has no tag if the profile has separators. It is
// in quotes only if the content is not a dot-string: `j..doe` gives `"j..doe"`, as in Postfix when it sends the message
// on. Allocates only for text that is not ASCII.
RejectReason canonicalize_local_part(std::string_view text, AddressProfile profile, LocalPart& out) noexcept;

}  // namespace bloomgate
