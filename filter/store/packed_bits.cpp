#include "filter/store/packed_bits.hpp"

#include "filter/base/processor.hpp"

namespace bloomgate {

bool PackedBits::can_do(unsigned low_bits) noexcept {
  return processor().avx512_vbmi2 && low_bits >= kLeastLowBits && low_bits <= kMostLowBits;
}

#ifndef __x86_64__

void PackedBits::pack(std::span<const KeyHash> /*hashes*/, unsigned /*low_bits*/, std::uint64_t /*high_bits*/,
                      std::byte* /*bits*/) noexcept {}

bool PackedBits::unpack(std::span<const std::byte> /*bits*/, unsigned /*low_bits*/, std::uint64_t /*high_bits*/,
                        KeyHash /*first*/, std::span<KeyHash> /*out*/) noexcept {
  return false;
}

#endif

}  // namespace bloomgate
