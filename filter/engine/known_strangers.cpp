#include "filter/engine/known_strangers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "filter/address/domain_tree.hpp"
#include "filter/base/parallel.hpp"
#include "filter/engine/builder.hpp"
#include "filter/gather/sort_hashes.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {
namespace {

// If there are 10^7 excluded senders, a partition has 300 KB, and is sorted in the cache.
constexpr unsigned kPartitionBits = 8;
constexpr std::size_t kStrangersAtOnce = 1 << 14;

// The memory for gathering: 8 bytes of what each excluded sender takes.
std::uint64_t gathering_bytes(std::uint64_t memory_bytes, std::uint32_t values_per_entry, unsigned lanes) {
  const std::uint64_t of_one = 8 + HashIndex::kBytesOfHash + 1 + (values_per_entry == 1 ? 0 : 9 * values_per_entry);
  return std::max(memory_bytes / of_one * sizeof(KeyHash), least_hash_bytes(lanes));
}

}  // namespace

void KnownStrangers::Lane::add(std::string_view key) {
  const LayoutRules& rules = layout_rules(shape_.layout);
  std::array<std::uint64_t, kMaxHashes> values;
  rules.values_of(shape_, key, values.data());
  if (!range_.has(values[0])) return;
  marks_->add(values[0]);
  const std::uint32_t count = rules.values_per_entry(shape_.hashes);
  if (count > 1) values_.insert(values_.end(), values.begin(), values.begin() + count);
}

KnownStrangers::KnownStrangers(const FilterShape& shape, unsigned lanes, std::uint64_t memory_bytes, HashRange range)
    : shape_(shape),
      rules_(&layout_rules(shape.layout)),
      values_per_entry_(rules_->values_per_entry(shape.hashes)),
      threads_(lanes),
      marks_(kPartitionBits, lanes, gathering_bytes(memory_bytes, values_per_entry_, lanes)) {
  for (unsigned i = 0; i < lanes; ++i) lanes_.emplace_back(marks_.lane(i), shape_, range);
}

void KnownStrangers::settle() {
  std::vector<std::vector<KeyHash>> sorted(marks_.partition_count());
  for_each_parallel(threads_, sorted.size(), [&](std::size_t partition) {
    std::vector<KeyHash> gathered;
    marks_.for_each_run(partition,
                        [&](std::span<const KeyHash> run) { gathered.insert(gathered.end(), run.begin(), run.end()); });
    sort_hashes(gathered, kPartitionBits, sorted[partition]);
  });
  std::vector<KeyHash> all;
  for (std::vector<KeyHash>& part : sorted) {
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  index_ = HashIndex(std::move(all));
  for (Lane& lane : lanes_) {
    values_.insert(values_.end(), lane.values_.begin(), lane.values_.end());
    lane.values_ = {};
  }
  start_again();
}

void KnownStrangers::start_again() {
  states_.assign(index_.hashes().size(), 0);
  missed_.assign(values_.size() / values_per_entry_, 0);
  domains_ = {};
  entries_ = {};
}

void KnownStrangers::end_notes() {
  std::vector<KeyHash> entries;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if ((states_[i] & kEntry) != 0) entries.push_back(index_.hashes()[i]);
  }
  entries_ = HashIndex(std::move(entries));
}

void KnownStrangers::note_entries(std::span<const std::uint64_t> values) noexcept {
  index_.for_each_found(values, [this](std::size_t found) { states_[found] |= kEntry; });
}

void KnownStrangers::note_bits(const FilterShape& shape, ConstBodyPart part, std::uint64_t end) {
  values_per_entry_ == 1 ? note_bits_of_marks(shape, part, end) : note_bits_of_values(shape, part, end);
}

// The blocks of ascending hashes are consecutive, so that the part is read from its front to its end.
KnownStrangers::Indices KnownStrangers::marks_in(const FilterShape& shape, ConstBodyPart part,
                                                 std::uint64_t end) const noexcept {
  const std::span<const KeyHash> hashes = index_.hashes();
  const auto first_from = [&](std::uint64_t place) {
    const auto place_of = [&](KeyHash hash) { return rules_->bytes_of(shape, hash).begin; };
    return static_cast<std::size_t>(std::ranges::lower_bound(hashes, place, {}, place_of) - hashes.begin());
  };
  return {first_from(part.begin), first_from(end)};
}

KnownStrangers::Indices KnownStrangers::marks_in(HashRange range) const noexcept {
  const std::span<const KeyHash> hashes = index_.hashes();
  return {static_cast<std::size_t>(std::ranges::lower_bound(hashes, range.first) - hashes.begin()),
          static_cast<std::size_t>(std::ranges::upper_bound(hashes, range.last) - hashes.begin())};
}

std::span<const std::uint64_t> KnownStrangers::values_in(HashRange range) const noexcept {
  const Indices marks = marks_in(range);
  return index_.hashes().subspan(marks.begin, marks.end - marks.begin);
}

std::span<std::uint8_t> KnownStrangers::notes_of(HashRange range) noexcept {
  const Indices marks = marks_in(range);
  return std::span(states_).subspan(marks.begin, marks.end - marks.begin);
}

void KnownStrangers::note_marks(const FilterShape& shape, ConstBodyPart part, Indices marks) noexcept {
  for (std::size_t i = marks.begin; i < marks.end; ++i) {
    if (!rules_->has_bits_of(shape, part, index_.hashes()[i])) states_[i] |= kMissed;
  }
}

void KnownStrangers::note_bits_here(const FilterShape& shape, ConstBodyPart part, std::uint64_t end) noexcept {
  note_marks(shape, part, marks_in(shape, part, end));
}

void KnownStrangers::note_bits_of_marks(const FilterShape& shape, ConstBodyPart part, std::uint64_t end) {
  const Indices marks = marks_in(shape, part, end);
  for_each_parallel(threads_, (marks.end - marks.begin + kStrangersAtOnce - 1) / kStrangersAtOnce,
                    [&](std::size_t piece) {
                      const std::size_t begin = marks.begin + piece * kStrangersAtOnce;
                      note_marks(shape, part, {begin, std::min(begin + kStrangersAtOnce, marks.end)});
                    });
}

void KnownStrangers::note_bits_of_values(const FilterShape& shape, ConstBodyPart part, std::uint64_t end) {
  const auto misses = [&](std::uint64_t value) {
    const std::uint64_t place = rules_->bytes_of(shape, value).begin;
    return place >= part.begin && place < end && !rules_->has_bits_of(shape, part, value);
  };
  for_each_parallel(threads_, (missed_.size() + kStrangersAtOnce - 1) / kStrangersAtOnce, [&](std::size_t piece) {
    const std::size_t begin = piece * kStrangersAtOnce;
    for (std::size_t i = begin; i < std::min(begin + kStrangersAtOnce, missed_.size()); ++i) {
      const auto values = std::span(values_).subspan(i * values_per_entry_, values_per_entry_);
      if (missed_[i] == 0 && std::ranges::any_of(values, misses)) missed_[i] = 1;
    }
  });
}

Match KnownStrangers::domain_match(EntryKind kind, std::string_view key) const noexcept {
  const auto is_entry = [this](std::string_view domain_key) {
    return domains_.find(hash_of_domain(shape_, domain_key)) != HashIndex::kAbsent;
  };
  if (kind == EntryKind::pair) {
    const PairSides sides = sides_of_pair(key);
    if (!find_wider_pair(sides.sender, sides.recipient, is_entry).view().empty()) return Match::domain;
    key = sides.sender;
  }
  // A domain has no '@', so the last one is before it.
  const std::size_t at = key.rfind('@');
  if (is_entry(key.substr(at))) return Match::domain;
  return find_domain_tree(key.substr(at + 1), is_entry).empty() ? Match::none : Match::domain_tree;
}

Match KnownStrangers::entry_of(EntryKind kind, std::string_view key) noexcept {
  if (!goes_into_bits(kind)) {
    if (domains_.find(hash_of_domain(shape_, key)) == HashIndex::kAbsent) return Match::none;
    return match_of(kind);
  }
  std::array<std::uint64_t, kMaxHashes> values;
  rules_->values_of(shape_, key, values.data());
  if (entries_.find(values[0]) != HashIndex::kAbsent) return Match::address;
  if (!has_domains()) return Match::none;
  const Match match = domain_match(kind, key);
  if (match == Match::none) return Match::none;
  const std::size_t at = index_.find(values[0]);
  if (at == HashIndex::kAbsent) return Match::none;
  // Another thread may have the same address, from another line.
  std::atomic_ref(states_[at]).fetch_or(kByDomain, std::memory_order_relaxed);
  return match;
}

KnownStrangerCounts KnownStrangers::counts() const noexcept {
  const auto count = [this](State state) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(states_, [=](std::uint8_t each) { return (each & state) != 0; }));
  };
  return {.known = states_.size(), .entries = count(kEntry), .by_domain = count(kByDomain)};
}

std::vector<std::uint64_t> KnownStrangers::excluded() const {
  std::vector<std::uint64_t> excluded;
  if (values_per_entry_ == 1) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if ((states_[i] & (kEntry | kMissed)) == 0) excluded.push_back(index_.hashes()[i]);
    }
    return excluded;
  }
  for (std::size_t i = 0; i < missed_.size(); ++i) {
    if (missed_[i] != 0) continue;
    const std::uint64_t mark = values_[i * values_per_entry_];
    if ((states_[index_.find(mark)] & kEntry) == 0) excluded.push_back(mark);
  }
  std::ranges::sort(excluded);
  excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
  return excluded;
}

}  // namespace bloomgate
