// Why a text is not an entry, as a value, a stable token and a sentence. The canonicaliser and its parts give these
// reasons. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "filter/address/limits.hpp"

namespace bloomgate {

enum class RejectReason : std::uint8_t {
  none,
  too_long,           // over kMaxInputBytes; nothing else was checked
  control_character,  // a control character, U+2028, U+2029 or U+FEFF; NUL, CR and LF in comments too
  invalid_utf8,
  unbalanced_brackets,  // `<a@b` or `a@b>`
  bad_source_route,     // `<@a,@b:` in a wrong form
  trailing_text,        // something after the end of the address
  missing_at_sign,
  empty_local_part,
  bad_local_part_character,  // a character that needs quotes
  unterminated_quote,
  empty_domain,
  empty_label,  // two dots in a row, or one at the start
  bad_domain_character,
  label_too_long,           // over kMaxLabelBytes
  domain_too_long,          // over kMaxDomainBytes
  invalid_idn,              // not a domain name by IDNA 2008
  bad_address_literal,      // `[…]` that is neither an IPv4 nor an IPv6 address
  address_too_long,         // over kMaxAddressBytes
  display_name,             // list lines only: a name before the address that could be taken for another entry
  invisible_character,      // beyond ASCII: a character that is not seen, such as a zero-width space
  foreign_space,            // a no-break space, and all others beyond ASCII
  compatibility_character,  // a variant of another character: full-width, a ligature, a superscript
  disallowed_character,     // in a local part: neither a letter, a digit nor a mark of one
  null_sender_in_list,      // list lines only: `<>` cannot be whitelisted
  wildcard,                 // list lines only: `*@domain`, `%@domain`, `@*.domain` and the like
  pair,                     // list lines only: `sender > recipient` where pairs are not accepted
  incomplete_pair,          // list lines only: a pair without one of its sides
  too_many_labels,          // list lines only: a domain entry in a pair with more than kMaxFormLabels
  out_of_memory,            // Unicode only: a library could not allocate
};
inline constexpr std::size_t kRejectReasonCount = 30;

// The reason as a stable token ("address-too-long"), for logs and reject files. Never fails.
std::string_view reject_reason_name(RejectReason reason) noexcept;

// The reason as a sentence for a person ("the whole address is longer than 254 octets"). Never fails.
std::string_view reject_reason_text(RejectReason reason) noexcept;

}  // namespace bloomgate
