// MurmurHash3_x64_128 (Austin Appleby), the hash family murmur3: on a little-endian machine, with a seed of 64 bits
// that starts both halves. For seeds below 2^32 it is the published function. Pure.
//
// Cassandra's Java version reads the last bytes of a key (those past the last whole 16) as signed numbers, and so gives
// other values than the published one if such a byte is above 127. This one follows the publication.
#pragma once

#include <cstdint>
#include <string_view>

#include "filter/hash/hash_pair.hpp"

namespace bloomgate {

HashPair murmur3_128(std::string_view key, std::uint64_t seed) noexcept;

}  // namespace bloomgate
