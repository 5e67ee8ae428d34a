// Plain addresses and pairs in registers of 256 bits, for processors with AVX2, BMI and BMI2.
#ifdef __x86_64__
#include <immintrin.h>

#include "filter/address/plain_words.hpp"

namespace bloomgate {
namespace {

using plain_words::SignBytes;
using plain_words::Word;

inline __m256i equal(__m256i bytes, char byte) noexcept {
  return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte));
}

inline __m256i in_range(__m256i bytes, char first, char count) noexcept {
  const __m256i above = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
  return _mm256_cmpeq_epi8(_mm256_min_epu8(above, _mm256_set1_epi8(count)), above);
}

inline std::uint64_t mask_of(__m256i bytes) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}

// Two halves of 32 bytes.
struct By32 {
  static Word classify(const char* text, char* folded) noexcept {
    const Word low = classify_half(text, folded);
    const Word high = classify_half(text + 32, folded + 32);
    return {.plain = low.plain | high.plain << 32,
            .at = low.at | high.at << 32,
            .dot = low.dot | high.dot << 32,
            .plus = low.plus | high.plus << 32,
            .line_feed = low.line_feed | high.line_feed << 32,
            .carriage_return = low.carriage_return | high.carriage_return << 32};
  }

  static SignBytes sign_bytes(const char* text) noexcept {
    const __m256i low = load(text);
    const __m256i high = load(text + 32);
    return {.space = mask_of(equal(low, ' ')) | mask_of(equal(high, ' ')) << 32,
            .greater = mask_of(equal(low, '>')) | mask_of(equal(high, '>')) << 32};
  }

 private:
  static __m256i load(const char* text) noexcept { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text)); }

  static Word classify_half(const char* text, char* folded) noexcept {
    const __m256i bytes = load(text);
    const __m256i case_bit = _mm256_set1_epi8(0x20);
    const __m256i letter = in_range(_mm256_or_si256(bytes, case_bit), 'a', 25);
    const __m256i lower_case = _mm256_or_si256(bytes, _mm256_and_si256(letter, case_bit));
    _mm256_store_si256(reinterpret_cast<__m256i*>(folded), lower_case);
    const std::uint64_t at = mask_of(equal(bytes, '@'));
    const std::uint64_t dot = mask_of(equal(bytes, '.'));
    const std::uint64_t plus = mask_of(_mm256_or_si256(equal(bytes, '+'), equal(bytes, '=')));
    const __m256i mark = _mm256_or_si256(equal(bytes, '_'), equal(bytes, '-'));
    const __m256i name = _mm256_or_si256(letter, _mm256_or_si256(mark, in_range(bytes, '0', 9)));
    return {.plain = mask_of(name) | at | dot | plus,
            .at = at,
            .dot = dot,
            .plus = plus,
            .line_feed = mask_of(equal(bytes, '\n')),
            .carriage_return = mask_of(equal(bytes, '\r'))};
  }
};

}  // namespace

[[gnu::flatten]] const char* PlainLines::read_by_32(const char* at, const char* end) noexcept {
  return read_by<By32>(at, end);
}

[[gnu::flatten]] const char* PlainPairLines::read_by_32(const char* at, const char* end) noexcept {
  return read_by<By32>(at, end);
}

}  // namespace bloomgate
#endif
