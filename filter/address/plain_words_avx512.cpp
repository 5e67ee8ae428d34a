// Plain addresses and pairs in registers of 512 bits, for processors with AVX-512 BW, BMI and BMI2.
#ifdef __x86_64__
#include <immintrin.h>

#include "filter/address/plain_words.hpp"

namespace bloomgate {
namespace {

using plain_words::SignBytes;
using plain_words::Word;

inline std::uint64_t equal(__m512i bytes, char byte) noexcept {
  return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte));
}

inline std::uint64_t in_range(__m512i bytes, char first, char count) noexcept {
  return _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(first)), _mm512_set1_epi8(count));
}

// All 64 bytes in one register.
struct AtOnce {
  static Word classify(const char* text, char* folded) noexcept {
    const __m512i bytes = _mm512_loadu_si512(text);
    const __m512i case_bit = _mm512_set1_epi8(0x20);
    const std::uint64_t letter = in_range(_mm512_or_si512(bytes, case_bit), 'a', 25);
    _mm512_store_si512(folded, _mm512_or_si512(bytes, _mm512_maskz_mov_epi8(letter, case_bit)));
    Word word = {.at = equal(bytes, '@'), .dot = equal(bytes, '.')};
    word.plus = equal(bytes, '+') | equal(bytes, '=');
    word.line_feed = equal(bytes, '\n');
    word.carriage_return = equal(bytes, '\r');
    const std::uint64_t mark = equal(bytes, '_') | equal(bytes, '-');
    word.plain = letter | in_range(bytes, '0', 9) | mark | word.at | word.dot | word.plus;
    return word;
  }

  static SignBytes sign_bytes(const char* text) noexcept {
    const __m512i bytes = _mm512_loadu_si512(text);
    return {.space = equal(bytes, ' '), .greater = equal(bytes, '>')};
  }
};

}  // namespace

[[gnu::flatten]] const char* PlainLines::read_by_64(const char* at, const char* end) noexcept {
  return read_by<AtOnce>(at, end);
}

[[gnu::flatten]] const char* PlainPairLines::read_by_64(const char* at, const char* end) noexcept {
  return read_by<AtOnce>(at, end);
}

}  // namespace bloomgate
#endif
