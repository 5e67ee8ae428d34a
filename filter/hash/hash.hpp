// From key to hash, in one of three families. Part of the file format: tests/filter/hash/hash_test.cpp freezes their
// values.
//
// Hashes have 64 bits, because with 10^9 entries a 32-bit hash alone would give 21 % false positives. Layouts with one
// block for the whole array derive their probes from two halves of 64 bits. Hashes are seeded, so that outsiders cannot
// work out which addresses are false positives. Pure; safe from any thread; XXH3 takes about 3 ns for an address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "filter/hash/hash_pair.hpp"

namespace bloomgate {

using KeyHash = std::uint64_t;

// Files contain these values.
enum class HashFamily : std::uint32_t {
  xxh3 = 1,     // XXH3_64bits_withSeed of libxxhash 0.8 or later; the pair is XXH3_128bits_withSeed, low half first
  murmur3 = 2,  // the first half of MurmurHash3_x64_128, and both halves: murmur3.hpp
  fnv1a_murmur3 = 3,  // the pair is FNV-1a and the first half of MurmurHash3; the hash is their sum
};

inline constexpr HashFamily kHashFamilies[] = {HashFamily::xxh3, HashFamily::murmur3, HashFamily::fnv1a_murmur3};

// "xxh3", "murmur3", "fnv1a-murmur3"; "unknown" for anything else.
std::string_view hash_family_name(HashFamily family) noexcept;

// The family of that name, if there is one.
std::optional<HashFamily> find_hash_family(std::string_view name) noexcept;

KeyHash hash_key(std::string_view key, std::uint64_t seed, HashFamily family = HashFamily::xxh3) noexcept;

HashPair hash_pair(std::string_view key, std::uint64_t seed, HashFamily family) noexcept;

// The hash of an address in a filter that is made from a store: the hash that the store keeps, mixed with the filter's
// own seed. So each filter of one store has its own false positives, although no key is there to be hashed again. Only
// the low 32 bits change, and different hashes stay different. So hashes in the order of the store still fill a
// filter's array from its front to its end.
KeyHash mix_hash(KeyHash stored, std::uint64_t seed) noexcept;

// The same for many hashes. `out` has room for as many, and may be the memory of `stored`.
void mix_hashes(std::span<const KeyHash> stored, std::uint64_t seed, KeyHash* out) noexcept;

// A seed from the system's random number generator. Throws BloomgateError{cannot_read} if there is none.
std::uint64_t random_seed();

}  // namespace bloomgate
