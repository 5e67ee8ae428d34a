// Plain addresses and pairs in registers of 128 bits, which each x86-64 processor has.
#ifdef __x86_64__
#include <immintrin.h>

#include "filter/address/plain_words.hpp"

namespace bloomgate {
namespace {

using plain_words::SignBytes;
using plain_words::Word;

inline __m128i equal(__m128i bytes, char byte) noexcept {
  return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));
}

// Bytes in [first, first + count].
inline __m128i in_range(__m128i bytes, char first, char count) noexcept {
  const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(count)), above);
}

inline std::uint64_t mask_of(__m128i bytes, unsigned shift) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))} << shift;
}

struct By16 {
  // Classifies 64 bytes and writes them to `folded` in lower case.
  static Word classify(const char* text, char* folded) noexcept {
    const __m128i case_bit = _mm_set1_epi8(0x20);
    Word word;
    for (unsigned offset = 0; offset < 64; offset += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + offset));
      const __m128i letter = in_range(_mm_or_si128(bytes, case_bit), 'a', 25);
      const __m128i at = equal(bytes, '@');
      const __m128i dot = equal(bytes, '.');
      const __m128i plus = _mm_or_si128(equal(bytes, '+'), equal(bytes, '='));
      const __m128i mark = _mm_or_si128(equal(bytes, '_'), equal(bytes, '-'));
      const __m128i name = _mm_or_si128(_mm_or_si128(letter, in_range(bytes, '0', 9)), mark);
      const __m128i plain = _mm_or_si128(_mm_or_si128(name, dot), _mm_or_si128(at, plus));
      _mm_store_si128(reinterpret_cast<__m128i*>(folded + offset),
                      _mm_or_si128(bytes, _mm_and_si128(letter, case_bit)));
      word.plain |= mask_of(plain, offset);
      word.at |= mask_of(at, offset);
      word.dot |= mask_of(dot, offset);
      word.plus |= mask_of(plus, offset);
      word.line_feed |= mask_of(equal(bytes, '\n'), offset);
      word.carriage_return |= mask_of(equal(bytes, '\r'), offset);
    }
    return word;
  }

  static SignBytes sign_bytes(const char* text) noexcept {
    SignBytes found;
    for (unsigned offset = 0; offset < 64; offset += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + offset));
      found.space |= mask_of(equal(bytes, ' '), offset);
      found.greater |= mask_of(equal(bytes, '>'), offset);
    }
    return found;
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
