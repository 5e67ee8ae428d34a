// FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923), one half of the hash family fnv1a-murmur3. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomgate {

// The seed is mixed into the published offset basis, so that seed 0 gives the published function.
constexpr std::uint64_t fnv1a(std::string_view key, std::uint64_t seed) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (const char c : key) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x00000100000001b3;
  }
  return hash;
}

}  // namespace bloomgate
