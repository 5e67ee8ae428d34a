// Plain addresses and pairs in registers of 128 bits, which each 64-bit ARM processor has.
#if defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_neon.h>

#include "filter/address/plain_words.hpp"

namespace bloomgate {
namespace {

using plain_words::SignBytes;
using plain_words::Word;

constexpr unsigned kRegisters = 4;  // for 64 bytes

inline uint8x16_t equal(uint8x16_t bytes, char byte) noexcept {
  return vceqq_u8(bytes, vdupq_n_u8(static_cast<std::uint8_t>(byte)));
}

// Bytes in [first, first + count].
inline uint8x16_t in_range(uint8x16_t bytes, char first, std::uint8_t count) noexcept {
  return vcleq_u8(vsubq_u8(bytes, vdupq_n_u8(static_cast<std::uint8_t>(first))), vdupq_n_u8(count));
}

// One kind of byte in 64 bytes, each 0x00 or 0xff. No instruction collects the top bit of each byte, so sums of
// neighbours bring the bits together.
struct Kind {
  uint8x16_t bytes[kRegisters];

  std::uint64_t mask() const noexcept {
    const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040'2010'0804'0201));
    const auto pairs = [&](unsigned i) { return vpaddq_u8(vandq_u8(bytes[i], place), vandq_u8(bytes[i + 1], place)); };
    const uint8x16_t sum = vpaddq_u8(pairs(0), pairs(2));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
  }
};

inline uint8x16_t load(const char* text, unsigned i) noexcept {
  return vld1q_u8(reinterpret_cast<const std::uint8_t*>(text + 16 * std::size_t{i}));
}

struct By16 {
  // Classifies 64 bytes and writes them to `folded` in lower case.
  static Word classify(const char* text, char* folded) noexcept {
    const uint8x16_t case_bit = vdupq_n_u8(0x20);
    Kind plain;
    Kind at;
    Kind dot;
    Kind plus;
    Kind line_feed;
    Kind carriage_return;
    for (unsigned i = 0; i < kRegisters; ++i) {
      const uint8x16_t bytes = load(text, i);
      const uint8x16_t letter = in_range(vorrq_u8(bytes, case_bit), 'a', 25);
      const uint8x16_t mark = vorrq_u8(equal(bytes, '_'), equal(bytes, '-'));
      const uint8x16_t name = vorrq_u8(vorrq_u8(letter, in_range(bytes, '0', 9)), mark);
      at.bytes[i] = equal(bytes, '@');
      dot.bytes[i] = equal(bytes, '.');
      plus.bytes[i] = vorrq_u8(equal(bytes, '+'), equal(bytes, '='));
      plain.bytes[i] = vorrq_u8(vorrq_u8(name, dot.bytes[i]), vorrq_u8(at.bytes[i], plus.bytes[i]));
      line_feed.bytes[i] = equal(bytes, '\n');
      carriage_return.bytes[i] = equal(bytes, '\r');
      vst1q_u8(reinterpret_cast<std::uint8_t*>(folded + 16 * std::size_t{i}),
               vorrq_u8(bytes, vandq_u8(letter, case_bit)));
    }
    return {plain.mask(), at.mask(), dot.mask(), plus.mask(), line_feed.mask(), carriage_return.mask()};
  }

  static SignBytes sign_bytes(const char* text) noexcept {
    Kind space;
    Kind greater;
    for (unsigned i = 0; i < kRegisters; ++i) {
      const uint8x16_t bytes = load(text, i);
      space.bytes[i] = equal(bytes, ' ');
      greater.bytes[i] = equal(bytes, '>');
    }
    return {space.mask(), greater.mask()};
  }
};

}  // namespace

[[gnu::flatten]] const char* PlainLines::read_by_16(const char* at, const char* end) noexcept {
  return read_by<By16>(at, end);
}

[[gnu::flatten]] const char* PlainPairLines::read_by_16(const char* at, const char* end) noexcept {
  return read_by<By16>(at, end);
}

}  // namespace bloomgate
#endif
