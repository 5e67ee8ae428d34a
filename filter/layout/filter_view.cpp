#include "filter/layout/filter_view.hpp"

#include "filter/address/domain_tree.hpp"

namespace bloomgate {

std::string_view match_name(Match match) noexcept {
  switch (match) {
    case Match::none:
      return "not-listed";
    case Match::address:
      return "address";
    case Match::domain:
      return "domain";
    case Match::domain_tree:
      return "domain-tree";
    case Match::mailing_list:
      return "mailing-list";
    case Match::mailing_list_tree:
      return "mailing-list-tree";
    case Match::with_signer:
      return "with-signer";
  }
  return "not-listed";
}

Match match_of(EntryKind kind) noexcept {
  switch (kind) {
    case EntryKind::domain_tree:
      return Match::domain_tree;
    case EntryKind::mailing_list:
      return Match::mailing_list;
    case EntryKind::mailing_list_tree:
      return Match::mailing_list_tree;
    case EntryKind::with_signer:
      return Match::with_signer;
    case EntryKind::rejected:
    case EntryKind::blank:
    case EntryKind::null_sender:
    case EntryKind::address:
    case EntryKind::domain:
    case EntryKind::pair:
    case EntryKind::domain_pair:
      break;
  }
  return Match::domain;
}

FixedText<kMaxKeyBytes> FoundEntry::domain_entry() const noexcept {
  const auto entry = [this](std::string_view prefix) {
    FixedText<kMaxKeyBytes> text;
    text.append(prefix);
    text.append(domain);
    return text;
  };
  switch (match) {
    case Match::domain:
      return entry("@");
    case Match::domain_tree:
      return entry("@.");
    case Match::mailing_list:
      return entry(kMailingListPrefix);
    case Match::mailing_list_tree:
      return entry(kMailingListTreePrefix);
    case Match::none:
    case Match::address:
    case Match::with_signer:
      break;
  }
  return {};
}

FoundEntry FilterView::find(const Entry& entry) const noexcept {
  switch (entry.kind()) {
    case EntryKind::rejected:
    case EntryKind::blank:
    case EntryKind::null_sender:
    case EntryKind::pair:
    case EntryKind::domain_pair:
      return {};
    case EntryKind::domain:
    case EntryKind::domain_tree:
    case EntryKind::mailing_list_tree:
      if (contains_domain(entry.key())) return {match_of(entry.kind()), entry.domain()};
      return {};
    case EntryKind::mailing_list:
      return find_mailing_list(entry.key(), [this](std::string_view key) { return contains_domain(key); });
    case EntryKind::with_signer: {
      const SignerSides sides = sides_of_signer_key(entry.key());
      return {find_with_signer(sides.entry, sides.signer).view().empty() ? Match::none : Match::with_signer};
    }
    case EntryKind::address:
      break;
  }
  const Hit hit = look_up(entry.key());
  if (hit == Hit::listed) return {Match::address};
  // The key of `@domain` is the tail of the address's own key.
  FoundEntry found = find_by_domain(entry.key().substr(entry.local_part().size()));
  found.is_excluded = hit == Hit::excluded;
  return found;
}

SignerKey FilterView::find_with_signer(std::string_view key, std::string_view signer) const noexcept {
  if (!holds_signers()) return {};
  return bloomgate::find_with_signer(key, signer, [this](std::string_view each) { return contains_domain(each); });
}

FoundEntry FilterView::find_by_domain(std::string_view domain_key) const noexcept {
  if (domains_.empty()) return {};
  const std::string_view domain = domain_key.substr(1);
  if (contains_domain(domain_key)) return {Match::domain, domain};
  const std::string_view tree = find_domain_tree(domain, [this](std::string_view key) { return contains_domain(key); });
  if (!tree.empty()) return {Match::domain_tree, tree};
  return {};
}

FoundPair FilterView::find_pair(std::string_view sender, std::string_view recipient) const noexcept {
  bool is_excluded = false;
  if (kinds_.pairs_in_bits != 0 && !is_mailing_list_key(sender)) {
    const PairKey key = pair_key(sender, recipient);
    const Hit hit = look_up(key.view());
    if (hit == Hit::listed) return {.key = key};
    is_excluded = hit == Hit::excluded;
  }
  FoundPair found = find_wider_pair(sender, recipient);
  found.is_excluded = is_excluded;
  return found;
}

FoundPair FilterView::find_wider_pair(std::string_view sender, std::string_view recipient) const noexcept {
  if (!kinds_.domain_pairs) return {};
  return {.key = bloomgate::find_wider_pair(sender, recipient,
                                            [this](std::string_view key) { return contains_domain(key); })};
}

std::uint64_t FilterView::count_ones() const noexcept {
  return rules_->count(body_).ones;
}

}  // namespace bloomgate
