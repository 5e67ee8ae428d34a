// Which of several ranks has which part of a filter's bit array. Each has a range of its blocks, so that each hash
// belongs to one rank alone. The ranges end where a checksum's chunk of the file ends, so that each chunk comes from
// one rank.
//
// For layouts in which each hash belongs to one block: page, line and ribbon. Immutable; any number of threads may use
// it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "filter/hash/hash_range.hpp"
#include "filter/layout/filter_shape.hpp"

namespace bloomgate::mpi {

// Blocks of a filter, from `first` on.
struct BlockRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const noexcept { return first + count; }
};

class SharedArray {
 public:
  static bool suits(Layout layout) noexcept;

  // `ranks` must be at least 1. If the array has fewer chunks than there are ranks, the last ranks have no blocks.
  // Throws BloomgateError{unsupported_layout}, and {bad_argument} if a chunk is not a whole number of blocks.
  SharedArray(const FilterShape& shape, unsigned ranks);

  unsigned ranks() const noexcept { return static_cast<unsigned>(first_blocks_.size() - 1); }
  BlockRange blocks_of(unsigned rank) const noexcept {
    return {first_blocks_[rank], first_blocks_[rank + 1] - first_blocks_[rank]};
  }

  // If a rank has no blocks, no later rank has any.
  bool has_blocks(unsigned rank) const noexcept { return rank < owners(); }

  // The hashes of these blocks; meaningless for a rank without blocks.
  HashRange hashes_of(unsigned rank) const noexcept {
    if (!has_blocks(rank)) return {};
    return {first_hashes_[rank],
            rank + 1 == owners() ? std::numeric_limits<KeyHash>::max() : first_hashes_[rank + 1] - 1};
  }

  // If the filter is made from a store: the stored hashes that the rank puts into the store. Mixing (mix_hash) changes
  // only the low half of a hash, so these are the hashes of its bits, except few at the ends of its range.
  HashRange stored_hashes_of(unsigned rank) const noexcept {
    const HashRange range = hashes_of(rank);
    const bool has_end = has_blocks(rank) && rank + 1 != owners();
    return {range.first & ~kMixedBits, has_end ? (first_hashes_[rank + 1] & ~kMixedBits) - 1 : range.last};
  }
  unsigned keeper_of(KeyHash stored) const noexcept { return owner_of(stored | kMixedBits); }

  // The rank that has the bits of that hash.
  unsigned owner_of(KeyHash hash) const noexcept {
    // The ranges are nearly even, so this is the owner or its neighbour.
    auto rank = static_cast<unsigned>(static_cast<Wide>(hash) * owners() >> 64);
    while (hash < first_hashes_[rank]) --rank;
    while (rank + 1 < owners() && hash >= first_hashes_[rank + 1]) ++rank;
    return rank;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr KeyHash kMixedBits = 0xffff'ffff;

  unsigned owners() const noexcept { return static_cast<unsigned>(first_hashes_.size()); }

  std::vector<std::uint64_t> first_blocks_;  // of each rank; and last, the number of blocks
  std::vector<KeyHash> first_hashes_;        // of each rank that has blocks
};

}  // namespace bloomgate::mpi
