// From key to 64-bit hash: XXH3, seeded. Part of the file format: tests/filter/hash_test.cpp freezes its values.
//
// 64 bits, because with 10^9 entries a 32-bit hash alone would give 21 % false positives. Seeded, because nobody
// outside may be able to work out which addresses are false positives. Pure; safe from any thread; about 3 ns for an
// address.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomgate {

using KeyHash = std::uint64_t;

enum class HashFamily : std::uint32_t {
  xxh3 = 1,  // XXH3_64bits_withSeed of libxxhash 0.8 or later
};

KeyHash hash_key(std::string_view key, std::uint64_t seed) noexcept;

// A seed from the system's random number generator. Throws BloomgateError{cannot_read} if there is none.
std::uint64_t random_seed();

}  // namespace bloomgate
