#include "filter/foreign/sender_pattern.hpp"

#include <algorithm>

#include "filter/address/address.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kWildcards = "*?";

bool has_wildcard(std::string_view text) noexcept {
  return text.find_first_of(kWildcards) != std::string_view::npos;
}

SenderEntry none(std::string_view fault) {
  return {.text = {}, .fault = fault};
}

SenderEntry below(std::string_view domain, Width width) {
  SenderEntry entry = entry_of_domain(domain, true);
  if (!entry.text.empty()) entry.width = width;
  return entry;
}

}  // namespace

SenderEntry entry_of_text(std::string text) {
  // In a list of ours each line is an entry.
  if (text.find_first_of("\r\n") != std::string::npos) return none("a line end within it");
  if (text.find('#') != std::string::npos) return none("a '#' within it");
  const Entry entry = canonicalize_list_line(text);
  switch (entry.kind()) {
    case EntryKind::rejected:
      return none(reject_reason_name(entry.reason()));
    case EntryKind::address:
    case EntryKind::domain:
    case EntryKind::domain_tree:
      return {.text = std::move(text)};
    default:
      return none("it names no sender");
  }
}

SenderEntry signed_by(SenderEntry entry, std::string_view signer) {
  if (entry.text.empty() || signer.empty()) return entry;
  std::string text = entry.text + " signed-by " + std::string(signer);
  if (canonicalize_list_line(text).kind() != EntryKind::with_signer) return none("its signer is no domain");
  return {.text = std::move(text), .width = entry.width};
}

SenderEntry entry_of_domain(std::string_view domain, bool below) {
  if (has_wildcard(domain)) return none("a wildcard within a domain's name");
  if (domain.starts_with('.')) return none("a dot before a domain's name");
  if (is_network(domain)) return none("a network address, which says nothing about senders");
  if (domain.find('.') == std::string_view::npos)
    return none("a name without a dot, which is no domain of the internet");
  return entry_of_text((below ? "@." : "@") + std::string(domain));
}

SenderEntry entry_of_glob(std::string_view pattern) {
  const std::size_t at = pattern.rfind('@');
  const std::string_view local_part = at == std::string_view::npos ? "*" : pattern.substr(0, at);
  std::string_view domain = at == std::string_view::npos ? pattern : pattern.substr(at + 1);
  if (!has_wildcard(pattern)) {
    return at == std::string_view::npos || at == 0 ? none("it is no sender's address, and has no '*'")
                                                   : entry_of_text(std::string(pattern));
  }
  if (local_part != "*") return none("a wildcard within the part before the '@'");
  if (!domain.starts_with('*')) return entry_of_domain(domain, false);
  domain.remove_prefix(1);
  if (domain.starts_with('.')) return below(domain.substr(1), Width::with_domain);
  if (domain.empty()) return none("it would list every sender");
  if (domain.starts_with('-')) return none("a wildcard within a domain's name");
  return below(domain, Width::narrower);
}

PatternReach reach_of_glob(std::string_view pattern) {
  std::string_view domain = pattern.substr(pattern.rfind('@') + 1);  // the whole pattern if it has no '@'
  const std::size_t wildcard = domain.find_last_of(kWildcards);
  const bool is_suffix = wildcard != std::string_view::npos;
  if (is_suffix) domain.remove_prefix(wildcard + 1);
  return {.domain = ascii::lower_case(domain), .is_suffix = is_suffix};
}

bool is_network(std::string_view text) noexcept {
  return text.find_first_of(":/") != std::string_view::npos ||
         (!text.empty() && std::ranges::all_of(text, [](char byte) { return ascii::is_digit(byte) || byte == '.'; }));
}

}  // namespace bloomgate
