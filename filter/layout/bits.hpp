// Single bits of an array of bytes, and the mixing and scaling of 64-bit values. Bit i is bit i % 8 of byte i / 8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "filter/base/little_endian.hpp"

namespace bloomgate {

// The high half of the 128-bit product: scales a value that is even over 2^64 to [0, range), without a division and in
// ascending order (Lemire, "Fast random integer generation in an interval", 2019).
constexpr std::uint64_t multiply_high(std::uint64_t value, std::uint64_t range) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{value} * range) >> 64);
}

// A multiplier with good lattice structure in all small dimensions for multiplicative generators modulo 2^64
// (Steele and Vigna, "Computationally easy, spectrally good multipliers for congruential pseudorandom number
// generators", 2022).
inline constexpr std::uint64_t kProbeMultiplier = 0xf1357aea2e62a9c5;

inline constexpr std::uint32_t kWordBytes = 8;
inline constexpr std::uint32_t kCacheLineBytes = 64;

inline void set_bit(std::byte* bytes, std::uint64_t bit) noexcept {
  bytes[bit / 8] |= std::byte{1} << (bit % 8);
}

// The same in an array of whole words of 64 bits, which takes fewer steps.
inline void set_bit_of_words(std::byte* words, std::uint64_t bit) noexcept {
  std::byte* const word = words + bit / 64 * 8;
  store_little_endian(word, load_little_endian<std::uint64_t>(word) | std::uint64_t{1} << (bit % 64));
}

inline bool has_bit(const std::byte* bytes, std::uint64_t bit) noexcept {
  return (bytes[bit / 8] & (std::byte{1} << (bit % 8))) != std::byte{0};
}

// Fetches into the second-level cache, which is faster: the first level can have fewer loads pending at once.
inline void prefetch_bit(const std::byte* bytes, std::uint64_t bit) noexcept {
  constexpr int kForReading = 0;
  constexpr int kSecondLevel = 2;
  __builtin_prefetch(bytes + bit / 8, kForReading, kSecondLevel);
}

}  // namespace bloomgate
