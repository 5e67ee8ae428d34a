// A set of hashes in memory that rejects most other hashes in a nanosecond or two. The builder asks it about every
// entry, so the usual answer must be quick. Immutable; safe from any thread.
//
// Beside the sorted hashes there is a bit for each of some ranges of hashes: 2^28 ranges for 10^7 hashes. A bit that is
// 0 answers the question; one in sixteen at most is 1. Neighbouring hashes have neighbouring bits, so that questions in
// the order of the builder's partitions (hash_partitions.hpp) stay in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class HashIndex {
 public:
  static constexpr std::size_t kAbsent = ~std::size_t{0};

  HashIndex() = default;  // empty
  // `sorted` must ascend, have each hash once, and have fewer than 2^32. Throws std::bad_alloc.
  explicit HashIndex(std::vector<KeyHash> sorted);

  std::span<const KeyHash> hashes() const noexcept { return hashes_; }

  // The index of `hash` in hashes(); kAbsent if it is not there.
  std::size_t find(KeyHash hash) const noexcept {
    const std::uint64_t range = hash >> shift_;
    const std::uint64_t word = range / 64;
    if (word >= words_.size() || (words_[word] >> range % 64 & 1) == 0) return kAbsent;
    return find_from(begins_[word], hash);
  }

  // Calls `visit(index)` with the index in hashes() of each hash of `asked` that is there. For many hashes at once, in
  // two steps. First it reads the bits without a branch, which a processor would mispredict once in some twenty hashes;
  // then it looks up the few hashes that are left. All memory that a step reads is prefetched before it.
  template <typename Visit>
  void for_each_found(std::span<const KeyHash> asked, Visit visit) const {
    if (words_.empty()) return;
    constexpr std::size_t kAtOnce = 512;
    std::array<KeyHash, kAtOnce> left;
    // A local copy, since the compiler must assume that `visit` can write to members.
    const std::uint64_t* const words = words_.data();
    const std::uint64_t last_range = words_.size() * 64 - 1;
    const unsigned shift = shift_;
    const auto range_of = [=](KeyHash hash) { return std::min(hash >> shift, last_range); };
    for (; !asked.empty(); asked = asked.subspan(std::min(kAtOnce, asked.size()))) {
      const auto at_once = asked.first(std::min(kAtOnce, asked.size()));
      for (const KeyHash hash : at_once) __builtin_prefetch(words + range_of(hash) / 64);
      std::size_t count = 0;
      for (const KeyHash hash : at_once) {
        const std::uint64_t range = range_of(hash);
        left[count] = hash;
        count += words[range / 64] >> range % 64 & 1;
      }
      const auto candidates = std::span(left).first(count);
      for (const KeyHash hash : candidates) __builtin_prefetch(begins_.data() + range_of(hash) / 64);
      for (const KeyHash hash : candidates) __builtin_prefetch(hashes_.data() + begins_[range_of(hash) / 64]);
      for (const KeyHash hash : candidates) {
        if (const std::size_t found = find(hash); found != kAbsent) visit(found);
      }
    }
  }

  // Bytes of memory that each hash takes at most.
  static constexpr std::uint64_t kBytesOfHash = 8 + 4 + 2;

 private:
  std::size_t find_from(std::size_t at, KeyHash hash) const noexcept;

  std::vector<KeyHash> hashes_;
  unsigned shift_ = 0;
  std::vector<std::uint64_t> words_;   // a bit for each range: whether a hash is in it
  std::vector<std::uint32_t> begins_;  // for each word: the first hash that is not before its ranges
};

}  // namespace bloomgate
