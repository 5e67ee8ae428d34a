// Which characters beyond ASCII an address may have, and the names of those that it may not have. Used by the parts of
// the canonicaliser. Pure; safe from any thread.
//
// An invisible character is copied along with an address, and the copy is then an entry that lists no sender, or
// revokes nobody. So a local part may have the characters of PRECIS's IdentifierClass (RFC 8264 section 9, in its
// order) and no others: letters and digits of all scripts, with their marks. It may have no symbols, and no variants of
// another character, such as a full-width letter or a superscript. A character that RFC 5892 allows in some contexts is
// allowed in these contexts. There are two differences from PRECIS:
// - A mark must follow a letter, a digit or another mark, as in a domain name (RFC 5891 section 4.2.3.2).
// - The Bidi Rule (RFC 5893) is not applied. Programs put tags and whole addresses of another script into local parts,
//   and a copied address is right, however it is shown. The invisible direction marks are not allowed.
//
// libunistring has the properties of the characters, for the Unicode version that it knows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "filter/address/reject_reason.hpp"

namespace bloomgate::identifier {

// Why a local part may not have this content, which is valid UTF-8 in NFC: invisible_character, foreign_space,
// compatibility_character or disallowed_character; none if it may. Linear, with two exceptions: for each joiner it
// reads the marks around it; for each Arabic digit and Japanese middle dot it reads all of the content. No allocation.
RejectReason check_local_part(std::string_view content) noexcept;

// The same for a host name that UTS #46 has not mapped yet, as the mapping deletes some of these characters:
// invisible_character or foreign_space. libidn2 finds everything else that IDNA does not allow, and judges the joiners.
RejectReason check_host_name(std::string_view name) noexcept;

struct Unsuitable {
  RejectReason reason = RejectReason::none;
  char32_t character = 0;
};

enum class Joiners : bool { pass, count };

// The first character of a text that is invisible or looks like a space, beyond ASCII, and why an address may not have
// it. In text that is not UTF-8, this and the following functions find nothing.
Unsuitable find_unseen(std::string_view text, Joiners joiners) noexcept;

// The first character that no local part may have, for that reason; 0 if there is none. It is beyond ASCII, and never a
// joiner.
char32_t find_unsuitable(std::string_view text, RejectReason reason) noexcept;

// Whether a text has nothing but such invisible characters, foreign spaces, joiners and spaces.
bool is_unseen(std::string_view text) noexcept;

// Whether a character of the text changes the direction of all text up to the next such character, so that the text may
// read as another one. A direction mark counts as one letter of its direction, so it does not.
bool changes_direction(std::string_view text) noexcept;

// "U+200B (ZERO WIDTH SPACE)"; without a name if Unicode has none. Throws std::bad_alloc.
std::string character_text(char32_t character);

}  // namespace bloomgate::identifier
