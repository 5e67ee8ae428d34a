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

Match FilterView::find(const Entry& entry) const noexcept {
  switch (entry.kind()) {
    case EntryKind::rejected:
    case EntryKind::blank:
    case EntryKind::null_sender:
      return Match::none;
    case EntryKind::domain:
      return may_contain(entry.key()) ? Match::domain : Match::none;
    case EntryKind::domain_tree:
      return may_contain(entry.key()) ? Match::domain_tree : Match::none;
    case EntryKind::address:
      break;
  }
  if (may_contain(entry.key())) return Match::address;
  // The key of `@domain` is the tail of the address's own key.
  return find_by_domain(entry.key().substr(entry.local_part().size()));
}

Match FilterView::find_by_domain(std::string_view domain_key) const noexcept {
  if (shape_.has_domains && may_contain(domain_key)) return Match::domain;
  const auto contains = [this](std::string_view key) { return may_contain(key); };
  if (shape_.has_domain_trees && is_in_domain_tree(domain_key.substr(1), contains)) return Match::domain_tree;
  return Match::none;
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
