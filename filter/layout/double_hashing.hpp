// The probes of the layouts classic and partitioned: the sequence a + b, a + 2b, a + 3b, … modulo 2^64 for the two
// halves of a key's hash (Kirsch and Mitzenmacher, "Less hashing, same performance: building a better Bloom filter",
// 2006), each scaled to the range by its high bits. The rate is that of k independent hashes, except for a term that
// vanishes as the array grows.
#pragma once

#include "filter/hash/hash.hpp"

namespace bloomgate {

class DoubleHashing {
 public:
  explicit constexpr DoubleHashing(HashPair pair) noexcept : state_(pair.first), step_(pair.second) {}

  // The next value, evenly distributed over 2^64. The first value already includes `second`, so that `first` may be a
  // function with weak high bits.
  constexpr std::uint64_t next() noexcept { return state_ += step_; }

 private:
  std::uint64_t state_;
  std::uint64_t step_;
};

}  // namespace bloomgate
