// From hash to block to probes, for the page layout: the bit array is cut into blocks of 4,096 bytes, the hash picks
// one block and then k bits inside it, so that a look-up touches one page of memory.
//
// Header-only because it is the inner loop of both programs. Pure; safe from any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "filter/hash.hpp"

namespace bloomgate::page_layout {

inline constexpr std::uint32_t kBlockBytes = 4096;
inline constexpr std::uint32_t kBlockBits = kBlockBytes * 8;

// A multiplier with good lattice structure in all small dimensions for multiplicative generators modulo 2^64
// (Steele and Vigna, "Computationally easy, spectrally good multipliers for congruential pseudorandom number
// generators", 2022).
inline constexpr std::uint64_t kProbeMultiplier = 0xf1357aea2e62a9c5;

// The block of a hash, in [0, block_count): the high half of the 128-bit product, which scales the hash to the range
// without a division (Lemire, "Fast random integer generation in an interval", 2019). It grows with the hash, so hashes
// in order visit the blocks in order: the builder partitions on that.
constexpr std::uint64_t block_of(KeyHash hash, std::uint64_t block_count) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{hash} * block_count) >> 64);
}

// The probes of a hash inside its block. The block was chosen by the hash's high bits; each multiplication spreads the
// low bits, in which the entries of one block differ, into the top bits, which are the next probe. Double hashing would
// be one addition cheaper, but its probes are too alike in a block this small: 27 % more false positives at 20 bits an
// entry.
class Probes {
 public:
  explicit constexpr Probes(KeyHash hash) noexcept : state_(hash) {}

  // The next bit to set or test, in [0, kBlockBits).
  constexpr std::uint32_t next() noexcept {
    state_ *= kProbeMultiplier;
    return static_cast<std::uint32_t>(state_ >> (64 - std::countr_zero(kBlockBits)));
  }

 private:
  std::uint64_t state_;
};

// Sets the k bits of `hash` in its block, `block` being that block's first byte. Bit i is bit i % 8 of byte i / 8.
inline void insert(std::byte* block, KeyHash hash, std::uint32_t hashes) noexcept {
  Probes probes(hash);
  for (std::uint32_t i = 0; i < hashes; ++i) {
    const std::uint32_t bit = probes.next();
    block[bit / 8] |= std::byte{1} << (bit % 8);
  }
}

// Whether all k bits of `hash` are set in its block. Stops at the first that is not.
inline bool may_contain(const std::byte* block, KeyHash hash, std::uint32_t hashes) noexcept {
  Probes probes(hash);
  for (std::uint32_t i = 0; i < hashes; ++i) {
    const std::uint32_t bit = probes.next();
    if ((block[bit / 8] & (std::byte{1} << (bit % 8))) == std::byte{0}) return false;
  }
  return true;
}

}  // namespace bloomgate::page_layout
