#include "filter/layout/filter_view.hpp"

#include <bit>

#include "filter/address/domain_tree.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/layout/counters.hpp"

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
    case EntryKind::pair:
    case EntryKind::domain_pair:
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
  const Hit hit = look_up(entry.key());
  if (hit == Hit::listed) return {Match::address};
  // The key of `@domain` is the tail of the address's own key.
  FoundEntry found = find_by_domain(entry.key().substr(entry.local_part().size()));
  found.is_excluded = hit == Hit::excluded;
  return found;
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
  if (pairs_.in_bits != 0) {
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
  if (!pairs_.with_domains) return {};
  return {.key = bloomgate::find_wider_pair(sender, recipient,
                                            [this](std::string_view key) { return contains_domain(key); })};
}

namespace {

// `bytes` are whole words.
[[gnu::always_inline]] inline std::uint64_t count_ones_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t ones = 0;
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
    ones += static_cast<unsigned>(std::popcount(load_little_endian<std::uint64_t>(bytes.data())));
  }
  return ones;
}

#ifdef __SSE2__
// The same for processors with an instruction for it.
[[gnu::target("popcnt")]] std::uint64_t count_ones_with_popcnt(std::span<const std::byte> bytes) noexcept {
  return count_ones_of(bytes);
}
#endif

}  // namespace

std::uint64_t FilterView::count_ones() const noexcept {
  if (rules_->counts_entries()) return count_counters(body_).used;
#ifdef __SSE2__
  if (__builtin_cpu_supports("popcnt") != 0) return count_ones_with_popcnt(body_);
#endif
  return count_ones_of(body_);
}

}  // namespace bloomgate
