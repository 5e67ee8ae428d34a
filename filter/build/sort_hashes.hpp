// Sorts the hashes of one partition, which are even over its range: by their next bits into buckets of a few, and then
// each bucket by itself. A bucket sort that takes some nanoseconds a hash, where std::sort takes some seventy (Knuth,
// The Art of Computer Programming 3, section 5.2.5). Safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "filter/hash/hash.hpp"

namespace bloomgate {

// Puts the different ones of `hashes` into `out`, in ascending order. All have the same `common_bits` high bits (0 to
// 32). Both vectors keep their memory, so that others can be sorted in it. Right for any hashes, and quick for even
// ones.
void sort_hashes(const std::vector<KeyHash>& hashes, unsigned common_bits, std::vector<KeyHash>& out);

}  // namespace bloomgate
