#include "filter/layout/filter_view.hpp"

#include <bit>

#include "filter/address/domain_tree.hpp"
#include "filter/base/little_endian.hpp"

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
  }
  return "not-listed";
}

FixedText<kMaxKeyBytes> FoundEntry::domain_entry() const noexcept {
  FixedText<kMaxKeyBytes> text;
  if (match != Match::domain && match != Match::domain_tree) return text;
  text.append(match == Match::domain ? std::string_view("@") : std::string_view("@."));
  text.append(domain);
  return text;
}

FoundEntry FilterView::find(const Entry& entry) const noexcept {
  switch (entry.kind()) {
    case EntryKind::rejected:
    case EntryKind::blank:
    case EntryKind::null_sender:
      return {};
    case EntryKind::domain:
      if (contains_domain(entry.key())) return {Match::domain, entry.domain()};
      return {};
    case EntryKind::domain_tree:
      if (contains_domain(entry.key())) return {Match::domain_tree, entry.domain()};
      return {};
    case EntryKind::address:
      break;
  }
  if (may_contain(entry.key())) return {Match::address};
  // The key of `@domain` is the tail of the address's own key.
  return find_by_domain(entry.key().substr(entry.local_part().size()));
}

FoundEntry FilterView::find_by_domain(std::string_view domain_key) const noexcept {
  if (domains_.empty()) return {};
  const std::string_view domain = domain_key.substr(1);
  if (contains_domain(domain_key)) return {Match::domain, domain};
  const std::string_view tree = find_domain_tree(domain, [this](std::string_view key) { return contains_domain(key); });
  if (!tree.empty()) return {Match::domain_tree, tree};
  return {};
}

std::uint64_t FilterView::count_ones() const noexcept {
  std::uint64_t ones = 0;
  std::span<const std::byte> rest = body_;  // whole words, in every layout
  for (; rest.size() >= sizeof(std::uint64_t); rest = rest.subspan(sizeof(std::uint64_t))) {
    ones += static_cast<unsigned>(std::popcount(load_little_endian<std::uint64_t>(rest.data())));
  }
  return ones;
}

}  // namespace bloomgate
