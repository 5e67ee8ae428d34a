#include "milter/brake/busiest_senders.hpp"

#include <algorithm>
#include <span>

namespace bloomgate {
namespace {

std::span<SenderCounts> group_at(std::vector<SenderCounts>& senders, std::size_t group) noexcept {
  return std::span(senders).subspan(group * BusiestSenders::kGroup, BusiestSenders::kGroup);
}

}  // namespace

std::size_t BusiestSenders::group_of(const Shard& shard, KeyHash key) noexcept {
  const std::uint64_t groups = shard.senders.size() / kGroup;
  return static_cast<std::size_t>((key >> 32) * groups >> 32);
}

const SenderCounts* BusiestSenders::find(const Shard& shard, KeyHash key) noexcept {
  const std::span group = std::span(shard.senders).subspan(group_of(shard, key) * kGroup);
  if (group.empty()) return nullptr;
  const auto found = std::ranges::find(group.first(kGroup), key, &SenderCounts::key);
  return found == group.first(kGroup).end() ? nullptr : &*found;
}

SenderCounts& BusiestSenders::find_or_add(Shard& shard, KeyHash key, HalfHours now) const {
  while (true) {
    if (!shard.senders.empty()) {
      const std::span group = group_at(shard.senders, group_of(shard, key));
      for (SenderCounts& each : group) {
        if (each.key() == key) return each;
      }
      for (SenderCounts& each : group) {
        if (each.key() != 0) continue;
        ++shard.size;
        return each = SenderCounts(key, now);
      }
      if (shard.senders.size() / kGroup == most_groups_) {
        SenderCounts& lightest =
            *std::ranges::min_element(group, {}, [now](const SenderCounts& each) { return each.weight(now); });
        lightest.become(key, now);
        return lightest;
      }
    }
    grow(shard);
  }
}

// A group is split in two, so each finds room.
void BusiestSenders::grow(Shard& shard) {
  std::vector<SenderCounts> old(std::max(shard.senders.size() * 2, kGroup));
  shard.senders.swap(old);
  for (const SenderCounts& each : old) {
    if (each.key() == 0) continue;
    const std::span group = group_at(shard.senders, group_of(shard, each.key()));
    *std::ranges::find(group, KeyHash{0}, &SenderCounts::key) = each;
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
