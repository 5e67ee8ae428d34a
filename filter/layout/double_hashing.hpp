// The probes of the layouts classic and partitioned: the sequence a + b, a + 2b, a + 3b, … modulo 2^64 for the two
// halves of a key's hash (Kirsch and Mitzenmacher, "Less hashing, same performance: building a better Bloom filter",
// 2006), each scaled to the range by its high bits. The rate is that of k independent hashes but for a term that
// vanishes with the size of the array.
#pragma once

#include "filter/hash/hash.hpp"

namespace bloomgate {

class DoubleHashing {
 public:
  explicit constexpr DoubleHashing(HashPair pair) noexcept : state_(pair.first), step_(pair.second) {}

  // The next value, even over 2^64. The first one already has a part of `second`, so that `first` may be a function
  // with weak high bits.
  constexpr std::uint64_t next() noexcept { return state_ += step_; }

 private:
  std::uint64_t state_;
  std::uint64_t step_;
};

}  // namespace bloomgate
