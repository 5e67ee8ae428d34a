#include "filter/filter_view.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "filter/little_endian.hpp"

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

namespace {

// Looks up `@.domain` for the domain and each one above it.
bool find_domain_tree(const FilterView& filter, std::string_view domain) noexcept {
  std::array<char, kMaxKeyBytes> key;
  key[0] = '@';
  while (!domain.empty()) {
    key[1] = '.';
    std::memcpy(key.data() + 2, domain.data(), domain.size());
    if (filter.may_contain({key.data(), 2 + domain.size()})) return true;
    // An address literal has dots, but nothing above it.
    const std::size_t dot = domain.front() == '[' ? std::string_view::npos : domain.find('.');
    if (dot == std::string_view::npos) return false;
    domain.remove_prefix(dot + 1);
  }
  return false;
}

}  // namespace

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
  if (shape_.has_domain_trees && find_domain_tree(*this, domain_key.substr(1))) return Match::domain_tree;
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
