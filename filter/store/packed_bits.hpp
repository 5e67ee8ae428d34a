// The bits of a store's page (store_page.hpp) in registers of 512 bits: eight hashes at once, where store_page.cpp goes
// from hash to hash. The same bits, and for processors with AVX-512 VBMI2 only. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class PackedBits {
 public:
  // What is read and written at once.
  static constexpr std::size_t kAtOnce = 64;
  // With these, every second number of a register has bytes of its own, and all eight lie in what is read at once.
  static constexpr unsigned kLeastLowBits = 8;
  static constexpr unsigned kMostLowBits = 55;

  // Whether this processor can do it, with so many low bits of each hash.
  static bool can_do(unsigned low_bits) noexcept;

  // Puts the hashes as distances from the first one to `bits`, which are zeros: the high parts in unary, and the low
  // bits behind them. May write up to kAtOnce bytes behind these, and leaves zeros there.
  static void pack(std::span<const KeyHash> hashes, unsigned low_bits, std::uint64_t high_bits,
                   std::byte* bits) noexcept;

  // The other way around: to `out` as many hashes as the unary part has ones. The low bits of all of them lie within
  // `bits`. False unless the distances ascend from 0 on.
  static bool unpack(std::span<const std::byte> bits, unsigned low_bits, std::uint64_t high_bits, KeyHash first,
                     std::span<KeyHash> out) noexcept;
};

}  // namespace bloomgate
