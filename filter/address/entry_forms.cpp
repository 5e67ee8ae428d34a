#include "filter/address/entry_forms.hpp"

#include <algorithm>

namespace bloomgate {

std::size_t label_count(std::string_view domain) noexcept {
  return domain.starts_with('[') ? 1 : 1 + static_cast<std::size_t>(std::ranges::count(domain, '.'));
}

EntryForms::EntryForms(std::string_view key) noexcept {
  add({}, key);
  if (is_mailing_list_key(key)) {
    const bool is_tree = key.starts_with(kMailingListTreePrefix);
    key.remove_prefix(is_tree ? kMailingListTreePrefix.size() : kMailingListPrefix.size());
    add_trees(kMailingListTreePrefix, key, false);
    return;
  }
  // A domain has no '@', so the last one is before it; a tree's domain has a dot before it.
  const std::size_t at = key.rfind('@');
  const bool is_tree = at == 0 && key.substr(1).starts_with('.');
  const std::string_view domain = key.substr(at + (is_tree ? 2 : 1));
  if (at != 0 && label_count(domain) <= kMaxFormLabels) add({}, key.substr(at));
  // An address literal has dots, but no domain above it, and no tree.
  if (!domain.starts_with('[')) add_trees("@.", domain, !is_tree);
}

void EntryForms::add_trees(std::string_view prefix, std::string_view domain, bool with_domain) noexcept {
  std::size_t labels = label_count(domain);
  for (bool is_own = true;; is_own = false, --labels) {
    if (labels <= kMaxFormLabels && (with_domain || !is_own)) add(prefix, domain);
    if (labels == 1) return;
    domain.remove_prefix(domain.find('.') + 1);
  }
}

}  // namespace bloomgate
