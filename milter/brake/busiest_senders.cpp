#include "milter/brake/busiest_senders.hpp"

#include <algorithm>
#include <span>

namespace bloomgate {
namespace {

// The group of a key in a shard's senders; `senders` is not empty.
template <typename Senders>
auto group_of(Senders& senders, KeyHash key) noexcept {
  const std::uint64_t groups = senders.size() / BusiestSenders::kGroup;
  const auto number = static_cast<std::size_t>((key >> 32) * groups >> 32);
  return std::span(senders).subspan(number * BusiestSenders::kGroup, BusiestSenders::kGroup);
}

// Finds key 0, too, which is a free slot. Null: not found.
template <typename Senders>
auto find_in(Senders& senders, KeyHash key, KeyHash wanted) noexcept -> decltype(senders.data()) {
  if (senders.empty()) return nullptr;
  const auto group = group_of(senders, key);
  const auto found = std::ranges::find(group, wanted, &SenderCounts::key);
  return found == group.end() ? nullptr : &*found;
}

}  // namespace

const SenderCounts* BusiestSenders::find(const Shard& shard, KeyHash key) noexcept {
  return find_in(shard.senders, key, key);
}

SenderCounts& BusiestSenders::find_or_add(Shard& shard, KeyHash key, HalfHours now) const {
  while (true) {
    if (SenderCounts* const known = find_in(shard.senders, key, key)) return *known;
    if (SenderCounts* const free = find_in(shard.senders, key, 0)) {
      ++shard.size;
      return *free = SenderCounts(key, now);
    }
    if (shard.senders.size() / kGroup == most_groups_) {
      SenderCounts& lightest = *std::ranges::min_element(group_of(shard.senders, key), {},
                                                         [now](const SenderCounts& each) { return each.weight(now); });
      lightest.become(key, now);
      return lightest;
    }
    grow(shard);
  }
}

// Each group is split into two, so each sender finds room.
void BusiestSenders::grow(Shard& shard) {
  std::vector<SenderCounts> old(std::max(shard.senders.size() * 2, kGroup));
  shard.senders.swap(old);
  for (const SenderCounts& each : old) {
    if (each.key() != 0) *find_in(shard.senders, each.key(), 0) = each;
  }
}

std::size_t BusiestSenders::size() const noexcept {
  std::size_t sum = 0;
  for (const Shard& shard : *shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.size;
  }
  return sum;
}

std::size_t BusiestSenders::memory_bytes() const noexcept {
  std::size_t sum = sizeof *shards_;
  for (const Shard& shard : *shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.senders.capacity() * sizeof(SenderCounts);
  }
  return sum;
}

}  // namespace bloomgate
