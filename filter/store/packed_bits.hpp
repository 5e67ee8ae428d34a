// Packs and unpacks the bits of a store's page (store_page.hpp) in registers of 512 bits: eight hashes at once, where
// store_page.cpp works hash by hash. The bits are the same. For processors with AVX-512 VBMI2 only. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/hash/hash.hpp"

namespace bloomgate {

class PackedBits {
 public:
  // How many bytes are read or written at once.
  static constexpr std::size_t kAtOnce = 64;
  // Within these limits every second number of a register has its own bytes, and all eight lie in what one step reads.
  static constexpr unsigned kLeastLowBits = 8;
  static constexpr unsigned kMostLowBits = 55;

  // Whether this processor can do it, if each hash has so many low bits.
  static bool can_do(unsigned low_bits) noexcept;

  // Writes the hashes to `bits`, which must be zeros, as distances from the first one: the high parts in unary, and
  // then the low bits. May write up to kAtOnce bytes after these, and leaves zeros there.
  static void pack(std::span<const KeyHash> hashes, unsigned low_bits, std::uint64_t high_bits,
                   std::byte* bits) noexcept;

  // The reverse: writes as many hashes to `out` as the unary part has ones. The low bits of all of them must lie within
  // `bits`. Returns false unless the distances ascend from 0 on.
  static bool unpack(std::span<const std::byte> bits, unsigned low_bits, std::uint64_t high_bits, KeyHash first,
                     std::span<KeyHash> out) noexcept;
};

}  // namespace bloomgate
