#include "milter/policy/neighbours.hpp"

#include <algorithm>

#include "filter/domains/neighbours.hpp"

namespace bloomgate {
namespace {

bool is_sender(const Entry& entry) noexcept {
  return entry.kind() == EntryKind::address || entry.kind() == EntryKind::mailing_list;
}

template <typename Matches>
bool any_whitelist(const Lists& lists, Matches matches) noexcept {
  return std::ranges::any_of(lists.whitelists, [&](const NamedWhitelist& each) {
    return each.whitelist != nullptr && matches(*each.whitelist);
  });
}

}  // namespace

bool have_neighbours(const Lists& lists, const Entry& sender) noexcept {
  if (!is_sender(sender)) return false;
  const std::string_view key = sender.key();
  if (sender.kind() == EntryKind::address && lists.learned != nullptr &&
      lists.learned->has_sender_domain(sender.domain())) {
    return true;
  }
  const auto has = [&](const auto& list, bool has_domain_pairs) {
    return has_neighbours(key, has_domain_pairs,
                          [&](std::string_view neighbours) { return list.has_neighbours(neighbours); });
  };
  return (lists.extra != nullptr && has(*lists.extra, lists.extra->holds_pairs())) ||
         any_whitelist(lists, [&](const Whitelist& each) { return has(each, each.view().holds_domain_pairs()); });
}

bool have_neighbours_with_signer(const Lists& lists, const Entry& sender, std::string_view signer) noexcept {
  if (!is_sender(sender) || !lists.list_with_signers()) return false;
  const auto has = [&](const auto& list) {
    return has_neighbours_with_signer(sender.key(), signer,
                                      [&](std::string_view neighbours) { return list.has_neighbours(neighbours); });
  };
  return (lists.extra != nullptr && has(*lists.extra)) || any_whitelist(lists, has);
}

}  // namespace bloomgate
