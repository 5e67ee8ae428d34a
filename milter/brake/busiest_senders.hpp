// The counts of the senders that send most, in bounded memory: at most 256 MiB for 10^6 senders, proportionally less
// for fewer. If there is no room for another sender, it replaces the lightest of eight senders, and inherits that
// sender's counts. So counts may be too high, but never too low (the space-saving algorithm of Metwally, Agrawal and El
// Abbadi, 2005, applied to groups).
//
// Safe from any thread: each sender is in one of many shards, and each shard has its own lock.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "filter/hash/hash.hpp"
#include "milter/brake/sender_counts.hpp"

namespace bloomgate {

class BusiestSenders {
 public:
  static constexpr std::size_t kShards = 256;
  static constexpr std::size_t kGroup = 8;
  static constexpr std::size_t kMostSenders = std::size_t{1} << 20;

  // `most` is a power of two, and at least kShards * kGroup.
  explicit BusiestSenders(std::size_t most = kMostSenders) noexcept : most_groups_(most / kShards / kGroup) {}

  // Calls `visit(SenderCounts&)` for that sender, adds the sender if it is new, and returns the result of `visit`.
  // Meanwhile no other thread visits the sender. Throws std::bad_alloc.
  template <typename Visit>
  auto visit(KeyHash key, HalfHours now, Visit visit) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    return visit(find_or_add(shard, key, now));
  }

  // The same, but only for a sender that is already counted; for any other sender it returns a default-constructed
  // result.
  template <typename Visit>
  auto visit_known(KeyHash key, Visit visit) const {
    const Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    const SenderCounts* const found = find(shard, key);
    return found != nullptr ? visit(*found) : decltype(visit(*found)){};
  }

  // Calls `visit(const SenderCounts&)` for each sender. No lock is held during the calls, so `visit` may wait for a
  // disk. Throws std::bad_alloc.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Shard& shard : *shards_) {
      for (const SenderCounts& each : copy_of(shard)) {
        if (each.key() != 0) visit(each);
      }
    }
  }

  std::size_t size() const noexcept;
  std::size_t memory_bytes() const noexcept;

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::vector<SenderCounts> senders;  // in groups; a slot without a key is free
    std::size_t size = 0;
  };

  // The low bits select the shard, the high ones the group.
  Shard& shard_of(KeyHash key) const noexcept { return (*shards_)[key % kShards]; }
  static std::vector<SenderCounts> copy_of(const Shard& shard) {
    const std::lock_guard lock(shard.mutex);
    return shard.senders;
  }
  static const SenderCounts* find(const Shard& shard, KeyHash key) noexcept;
  SenderCounts& find_or_add(Shard& shard, KeyHash key, HalfHours now) const;
  static void grow(Shard& shard);

  const std::size_t most_groups_;  // of a shard
  std::unique_ptr<std::array<Shard, kShards>> shards_ = std::make_unique<std::array<Shard, kShards>>();
};

}  // namespace bloomgate
