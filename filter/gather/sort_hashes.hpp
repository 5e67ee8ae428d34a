// Sorts the hashes of one partition, which are even over its range. Their next bits divide them into groups that fit
// into the smallest cache, and the bits after these divide each group into buckets of one or two hashes; then it sorts
// what is still out of order. A radix sort that takes some nanoseconds a hash, where std::sort takes some seventy
// (Knuth, The Art of Computer Programming 3, section 5.2.5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "filter/hash/hash.hpp"

namespace bloomgate {

// Keeps the memory in which it sorts. One thread at a time may use an object.
class HashSorter {
 public:
  // Appends the different ones of `hashes` to `out`, in ascending order. All must have the same `common_bits` high bits
  // (0 to 32). Right for any hashes, and fast for even ones.
  void sort(std::span<const KeyHash> hashes, unsigned common_bits, std::vector<KeyHash>& out);

 private:
  void sort_group(std::span<KeyHash> group, unsigned common_bits);
  void sort_even_group(std::span<KeyHash> group, unsigned common_bits);

  std::vector<KeyHash> grouped_;
  std::vector<std::uint32_t> group_ends_;
  std::vector<KeyHash> bucketed_;
  std::vector<std::uint16_t> bucket_ends_;
};

// The same for a single use: replaces the content of `out`.
inline void sort_hashes(std::span<const KeyHash> hashes, unsigned common_bits, std::vector<KeyHash>& out) {
  out.clear();
  HashSorter().sort(hashes, common_bits, out);
}

}  // namespace bloomgate
