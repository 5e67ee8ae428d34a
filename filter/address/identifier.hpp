// Which characters beyond ASCII an address may have, and what those are called that it may not. Used by the parts of
// the canonicaliser. Pure; safe from any thread.
//
// A character that is not seen comes along when an address is copied, and gives an entry that lists nobody, or revokes
// nobody. So a local part has the characters of PRECIS's IdentifierClass (RFC 8264 section 9, in its order) and no
// others: letters and digits of all scripts, with their marks. Symbols are among the others, and so is what stands for
// another character: a full-width letter, a superscript. What RFC 5892 allows in some contexts is allowed in these. In
// two things this is stricter or laxer than PRECIS:
// - A mark stands behind a letter, a digit or another mark, as in a domain name (RFC 5891 section 4.2.3.2).
// - The Bidi Rule (RFC 5893) is not applied. Programs put tags and whole addresses of another script into local parts,
//   and a copied address is right however it is shown. The invisible marks of direction are not allowed.
//
// libunistring has the properties of the characters, for the Unicode version that it knows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "filter/address/reject_reason.hpp"

namespace bloomgate::identifier {

// Why a local part may not have this content, which is valid UTF-8 in NFC: invisible_character, foreign_space,
// compatibility_character or disallowed_character; none if it may. Linear but for joiners, which look at the
// marks around them, Arabic digits and Japanese's middle dot, which look at all of it. No allocation.
RejectReason check_local_part(std::string_view content) noexcept;

// The same for a host name that is not mapped yet: invisible_character or foreign_space, of which UTS #46 maps some to
// nothing. What else IDNA does not allow, libidn2 finds, and it judges the joiners.
RejectReason check_host_name(std::string_view name) noexcept;

struct Unsuitable {
  RejectReason reason = RejectReason::none;
  char32_t character = 0;
};

enum class Joiners : bool { pass, count };

// The first character of a text that is not seen, or is seen as a space, and why an address may not have it. None in
// text that is not UTF-8. That holds for the next ones, too.
Unsuitable find_unseen(std::string_view text, Joiners joiners) noexcept;

// The first character, beyond ASCII and no joiner, that no local part may have, for that reason; 0 if there is none.
char32_t find_unsuitable(std::string_view text, RejectReason reason) noexcept;

// Whether there is nothing in a text but such characters, joiners and blanks.
bool is_unseen(std::string_view text) noexcept;

// Whether there is a character that changes the direction of all text up to the next one, so that it may read as
// another one. The marks of direction, which stand for a letter of theirs, are none.
bool changes_direction(std::string_view text) noexcept;

// "U+200B (ZERO WIDTH SPACE)"; without a name if Unicode has none. Throws std::bad_alloc.
std::string character_text(char32_t character);

}  // namespace bloomgate::identifier
