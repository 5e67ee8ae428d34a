#include "filter/layout/counters.hpp"

#include <bit>

#include "filter/base/little_endian.hpp"

namespace bloomgate {
namespace {

constexpr std::uint64_t kLowestBits = 0x1111111111111111;  // the lowest bit of each counter of a word

// A word that has the lowest bit of each counter that is not 0.
constexpr std::uint64_t used_of(std::uint64_t word) noexcept {
  return (word | word >> 1 | word >> 2 | word >> 3) & kLowestBits;
}

constexpr std::uint64_t saturated_of(std::uint64_t word) noexcept {
  return word & word >> 1 & word >> 2 & word >> 3 & kLowestBits;
}

// Every fourth bit, moved together.
constexpr std::uint16_t gather(std::uint64_t bits) noexcept {
  bits = (bits | bits >> 3) & 0x0303030303030303;
  bits = (bits | bits >> 6) & 0x000f000f000f000f;
  bits = (bits | bits >> 12) & 0x000000ff000000ff;
  return static_cast<std::uint16_t>(bits | bits >> 24);
}

}  // namespace

BodyCounts count_counters(std::span<const std::byte> counters) noexcept {
  BodyCounts counts;
  for (; counters.size() >= sizeof(std::uint64_t); counters = counters.subspan(sizeof(std::uint64_t))) {
    const auto word = load_little_endian<std::uint64_t>(counters.data());
    counts.ones += static_cast<unsigned>(std::popcount(used_of(word)));
    counts.saturated += static_cast<unsigned>(std::popcount(saturated_of(word)));
  }
  return counts;
}

void bits_of_counters(std::span<const std::byte> counters, std::span<std::byte> bits) noexcept {
  for (std::size_t at = 0; at + sizeof(std::uint16_t) <= bits.size(); at += sizeof(std::uint16_t)) {
    const auto word = load_little_endian<std::uint64_t>(counters.data() + kCounterBits * at);
    store_little_endian(bits.data() + at, gather(used_of(word)));
  }
}

}  // namespace bloomgate
