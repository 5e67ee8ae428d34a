#include "filter/hash/hash.hpp"

#include <sys/random.h>
// XXH3 is compiled in, not called: hashing a key takes fewer cycles than a call through the linkage table.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/hash/fnv1a.hpp"
#include "filter/hash/murmur3.hpp"

namespace bloomgate {

std::string_view hash_family_name(HashFamily family) noexcept {
  switch (family) {
    case HashFamily::xxh3:
      return "xxh3";
    case HashFamily::murmur3:
      return "murmur3";
    case HashFamily::fnv1a_murmur3:
      return "fnv1a-murmur3";
  }
  return "unknown";
}

std::optional<HashFamily> find_hash_family(std::string_view name) noexcept {
  for (const HashFamily family : kHashFamilies) {
    if (hash_family_name(family) == name) return family;
  }
  return std::nullopt;
}

// Flattened, which saves a call for each entry of a list.
[[gnu::flatten]] KeyHash hash_key(std::string_view key, std::uint64_t seed, HashFamily family) noexcept {
  if (family == HashFamily::xxh3) [[likely]]
    return XXH3_64bits_withSeed(key.data(), key.size(), seed);
  const HashPair pair = hash_pair(key, seed, family);
  // FNV-1a hardly mixes its high bits, which choose the block. Its sum with a good hash is as good as that hash.
  return family == HashFamily::murmur3 ? pair.first : pair.first + pair.second;
}

HashPair hash_pair(std::string_view key, std::uint64_t seed, HashFamily family) noexcept {
  switch (family) {
    case HashFamily::murmur3:
      return murmur3_128(key, seed);
    case HashFamily::fnv1a_murmur3:
      return {fnv1a(key, seed), murmur3_128(key, seed).first};
    case HashFamily::xxh3:
      break;
  }
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.low64, hash.high64};
}

KeyHash mix_hash(KeyHash stored, std::uint64_t seed) noexcept {
  constexpr unsigned kLowBits = 32;
  std::array<std::byte, sizeof(std::uint32_t)> high;
  store_little_endian(high.data(), static_cast<std::uint32_t>(stored >> kLowBits));
  return stored ^ static_cast<std::uint32_t>(XXH3_64bits_withSeed(high.data(), high.size(), seed));
}

void mix_hashes(std::span<const KeyHash> stored, std::uint64_t seed, KeyHash* out) noexcept {
  for (const KeyHash hash : stored) *out++ = mix_hash(hash, seed);
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  // Requests of up to 256 bytes are never short (getrandom(2)).
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    throw system_error(ErrorCode::cannot_read, "draw a random seed from", "getrandom(2)", errno);
  }
  return seed;
}

}  // namespace bloomgate
