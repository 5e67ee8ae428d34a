#include "filter/address/reject_reason.hpp"

#include <array>

namespace bloomgate {
namespace {

struct Wording {
  RejectReason reason;
  std::string_view name;
  std::string_view text;
};

constexpr std::array<Wording, kRejectReasonCount> kWordings = {{
    {RejectReason::none, "none", "nothing is wrong with it"},
    {RejectReason::too_long, "too-long", "it is longer than 2048 octets"},
    {RejectReason::control_character, "control-character",
     "there is a control character (such as NUL, TAB or a line end) or a byte-order mark inside"},
    {RejectReason::invalid_utf8, "invalid-utf8", "it is neither ASCII nor UTF-8"},
    {RejectReason::unbalanced_brackets, "unbalanced-brackets",
     "one of the two angle brackets around the address is missing"},
    {RejectReason::bad_source_route, "bad-source-route",
     "the source route before the address is not of the form <@host,@host:user@domain>"},
    {RejectReason::trailing_text, "trailing-text", "something other than a comment follows the entry"},
    {RejectReason::missing_at_sign, "missing-at-sign",
     "there is no '@'; an address is local-part@domain, and a whole domain is written @domain"},
    {RejectReason::empty_local_part, "empty-local-part", "there is nothing before the '@'"},
    {RejectReason::bad_local_part_character, "bad-local-part-character",
     "the part before the '@' has a character that may stand only in a quoted local part, or not at all"},
    {RejectReason::unterminated_quote, "unterminated-quote", "the quoted local part has no closing quote"},
    {RejectReason::empty_domain, "empty-domain", "there is no domain after the '@', 'list:' or 'signed-by'"},
    {RejectReason::empty_label, "empty-label", "the domain starts with a dot or has two dots in a row"},
    {RejectReason::bad_domain_character, "bad-domain-character",
     "the domain has a character other than letters, digits, hyphens, underscores and dots"},
    {RejectReason::label_too_long, "label-too-long",
     "a label of the domain (a part between dots) is longer than 63 octets"},
    {RejectReason::domain_too_long, "domain-too-long", "the domain is longer than 255 octets"},
    {RejectReason::invalid_idn, "invalid-idn", "the domain is not an internationalised name that IDNA 2008 allows"},
    {RejectReason::bad_address_literal, "bad-address-literal",
     "the text in square brackets is not an address such as [192.0.2.1] or [IPv6:2001:db8::1]"},
    {RejectReason::address_too_long, "address-too-long", "the whole address is longer than 254 octets"},
    {RejectReason::display_name, "display-name",
     "the display name before the address has an '@' or a character that needs quotes; write the address alone"},
    {RejectReason::invisible_character, "invisible-character",
     "there is an invisible character, such as a zero-width space, a soft hyphen or a mark of direction"},
    {RejectReason::foreign_space, "foreign-space",
     "there is a space that is not the usual one, such as a no-break space"},
    {RejectReason::compatibility_character, "compatibility-character",
     "there is a variant of another character, such as a full-width letter, a ligature or a superscript"},
    {RejectReason::disallowed_character, "disallowed-character",
     "the part before the '@' has a character beyond ASCII that may not stand there (a symbol, or one without the "
     "letters that it belongs to)"},
    {RejectReason::null_sender_in_list, "null-sender-in-list",
     "the null sender <> is the sender of all bounces and cannot be listed"},
    {RejectReason::wildcard, "wildcard",
     "it is a wildcard, which lists cannot have; a whole domain is written @domain, and with all below it @.domain"},
    {RejectReason::pair, "pair", "it is a pair, sender > recipient, where one address or one domain entry is wanted"},
    {RejectReason::incomplete_pair, "incomplete-pair",
     "the pair has no sender or no recipient; it is written sender > recipient"},
    {RejectReason::too_many_labels, "too-many-labels",
     "a domain or a mailing list in a pair, before signed-by, or below a '*' has more than 16 labels (parts between "
     "dots)"},
    {RejectReason::out_of_memory, "out-of-memory",
     "there was no memory left to bring the address into its canonical form"},
}};

constexpr bool in_the_order_of_the_enumeration() {
  for (std::size_t i = 0; i < kWordings.size(); ++i) {
    if (static_cast<std::size_t>(kWordings[i].reason) != i || kWordings[i].text.empty()) return false;
  }
  return true;
}
static_assert(in_the_order_of_the_enumeration());

}  // namespace

std::string_view reject_reason_name(RejectReason reason) noexcept {
  const auto index = static_cast<std::size_t>(reason);
  return index < kWordings.size() ? kWordings[index].name : "unknown";
}

std::string_view reject_reason_text(RejectReason reason) noexcept {
  const auto index = static_cast<std::size_t>(reason);
  return index < kWordings.size() ? kWordings[index].text : "the reason is not known to this version";
}

}  // namespace bloomgate
