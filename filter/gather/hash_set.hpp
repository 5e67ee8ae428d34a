// The different ones among hashes, in the order in which each came first. For one thread. A hash takes a few
// nanoseconds as long as the set fits into a cache of the core: less than to sort it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class HashSet {
 public:
  // Throws std::bad_alloc.
  void add(KeyHash hash) {
    if (hash == 0) {
      if (!has_zero_) hashes_.push_back(0);
      has_zero_ = true;
      return;
    }
    KeyHash& slot = slots_[slot_of(hash)];
    if (slot == hash) return;
    slot = hash;
    hashes_.push_back(hash);
    if (2 * hashes_.size() > slots_.size()) grow();
  }

  std::span<const KeyHash> hashes() const noexcept { return hashes_; }

  // Keeps the memory.
  void clear() {
    std::ranges::fill(slots_, 0);
    hashes_.clear();
    has_zero_ = false;
  }

 private:
  // Where it is, or belongs: open addressing, at most half full. By the low bits, as all hashes of a partition have the
  // same high ones.
  std::size_t slot_of(KeyHash hash) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at] != hash && slots_[at] != 0) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (const KeyHash hash : hashes_) {
      if (hash != 0) slots_[slot_of(hash)] = hash;
    }
  }

  static constexpr std::size_t kLeastSlots = 1024;

  std::vector<KeyHash> slots_ = std::vector<KeyHash>(kLeastSlots);  // 0: nothing; a power of two
  std::vector<KeyHash> hashes_;
  bool has_zero_ = false;
};

}  // namespace bloomgate
