// Counters of 4 bits in place of the bits of a filter (Fan, Cao, Almeida, Broder, "Summary cache: a scalable wide-area
// web cache sharing protocol", 2000, section V.C). Counter i is in byte i / 2: in its low half if i is even. A counter
// that has reached 15 stays there, since its number of entries is no longer known. Pure; safe from any thread as long
// as no two threads change the same byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

inline constexpr unsigned kCounterBits = 4;
inline constexpr unsigned kMostCount = 15;

inline unsigned counter_at(const std::byte* counters, std::uint64_t counter) noexcept {
  return std::to_integer<unsigned>(counters[counter / 2] >> (counter % 2 * kCounterBits)) & kMostCount;
}

// Adds one, unless the counter is saturated.
inline void raise_counter(std::byte* counters, std::uint64_t counter) noexcept {
  if (counter_at(counters, counter) == kMostCount) return;
  std::byte& byte = counters[counter / 2];
  byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + (1U << (counter % 2 * kCounterBits)));
}

// Subtracts one, unless the counter is saturated. Returns false if the counter is 0.
inline bool lower_counter(std::byte* counters, std::uint64_t counter) noexcept {
  const unsigned count = counter_at(counters, counter);
  if (count == 0) return false;
  if (count == kMostCount) return true;
  std::byte& byte = counters[counter / 2];
  byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) - (1U << (counter % 2 * kCounterBits)));
  return true;
}

// `counters` are whole words of 64 bits.
BodyCounts count_counters(std::span<const std::byte> counters) noexcept;

// The bits that the counters replace: 1 where a counter is not 0. `bits` has a quarter of the bytes of `counters`, in
// whole words of 16 bits.
void bits_of_counters(std::span<const std::byte> counters, std::span<std::byte> bits) noexcept;

}  // namespace bloomgate
