#include "filter/address/pair.hpp"

namespace bloomgate {

std::string entry_text(std::string_view key) {
  if (!is_pair_key(key)) return std::string(key);
  const PairSides sides = sides_of_pair(key);
  return std::string(sides.sender).append(" > ").append(sides.recipient);
}

std::size_t label_count(std::string_view domain) noexcept {
  return domain.starts_with('[') ? 1 : 1 + static_cast<std::size_t>(std::ranges::count(domain, '.'));
}

PairForms::PairForms(std::string_view key) noexcept {
  add({}, key);
  // A domain has no '@', so the last one is before it; a tree's domain has a dot before it.
  const std::size_t at = key.rfind('@');
  const bool is_tree = at == 0 && key.substr(1).starts_with('.');
  std::string_view domain = key.substr(at + (is_tree ? 2 : 1));
  std::size_t labels = label_count(domain);
  if (at != 0 && labels <= kMaxPairLabels) add({}, key.substr(at));
  // An address literal has dots, but nothing above it, and no tree.
  if (domain.starts_with('[')) return;
  for (bool is_own = true;; is_own = false, --labels) {
    if (labels <= kMaxPairLabels && !(is_tree && is_own)) add("@.", domain);
    if (labels == 1) return;
    domain.remove_prefix(domain.find('.') + 1);
  }
}

}  // namespace bloomgate
