#include "filter/plain_line.hpp"

#include <bit>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace bloomgate {

#ifdef __SSE2__
namespace {

// One bit for each byte of the line's first 32 or 64: whether it is such a byte.
struct Masks {
  std::uint64_t plain = 0;  // may stand in a local part or be the '@'
  std::uint64_t at = 0;
  std::uint64_t dot = 0;
  std::uint64_t hyphen = 0;
  std::uint64_t plus = 0;  // and the other bytes that only a local part may have
  std::uint64_t line_end = 0;
  std::uint64_t upper = 0;
};

__m128i equal(__m128i bytes, char byte) noexcept {
  return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));
}

// Bytes in [first, first + count].
__m128i in_range(__m128i bytes, char first, char count) noexcept {
  const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  return _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(count)), above);
}

std::uint64_t mask_of(__m128i bytes, unsigned shift) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))} << shift;
}

// Classifies 16 bytes and writes them to `folded` in lower case.
inline void classify(const char* line, unsigned offset, Masks& masks, char* folded) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(line + offset));
  const __m128i case_bit = _mm_set1_epi8(0x20);
  const __m128i letter = in_range(_mm_or_si128(bytes, case_bit), 'a', 25);
  const __m128i lower = _mm_or_si128(bytes, _mm_and_si128(letter, case_bit));
  const __m128i at = equal(bytes, '@');
  const __m128i dot = equal(bytes, '.');
  const __m128i hyphen = equal(bytes, '-');
  const __m128i plus = _mm_or_si128(equal(bytes, '+'), equal(bytes, '='));
  const __m128i word = _mm_or_si128(_mm_or_si128(letter, in_range(bytes, '0', 9)), equal(bytes, '_'));
  const __m128i plain = _mm_or_si128(_mm_or_si128(word, _mm_or_si128(dot, hyphen)), _mm_or_si128(at, plus));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(folded + offset), lower);
  masks.plain |= mask_of(plain, offset);
  masks.at |= mask_of(at, offset);
  masks.dot |= mask_of(dot, offset);
  masks.hyphen |= mask_of(hyphen, offset);
  masks.plus |= mask_of(plus, offset);
  masks.line_end |= mask_of(equal(bytes, '\n'), offset);
  masks.upper |= mask_of(_mm_andnot_si128(_mm_cmpeq_epi8(lower, bytes), _mm_set1_epi8(-1)), offset);
}

// Whether the first `size` bytes (1 to 63) are a dot-string, '@' and labels without anything unusual.
bool is_plain_address(const Masks& masks, unsigned size) noexcept {
  const std::uint64_t all = (std::uint64_t{1} << size) - 1;
  const std::uint64_t first = 1;
  const std::uint64_t last = std::uint64_t{1} << (size - 1);
  const std::uint64_t at = masks.at & all;
  const std::uint64_t dot = masks.dot & all;
  const std::uint64_t in_domain = all & ~(at - 1);  // from the '@' on; meaningless, and unused, where there is none
  const std::uint64_t hyphen = masks.hyphen & in_domain;
  // Dots may not stand at an end of the local part or of the domain, nor side by side; hyphens not at an end of a
  // label.
  const std::uint64_t no_dot = first | last | at << 1 | at >> 1 | dot << 1;
  const std::uint64_t no_hyphen = last | at << 1 | dot << 1 | dot >> 1;
  const std::uint64_t wrong = (all & ~masks.plain) | (at & (at - 1)) | (at & (first | last)) | (dot & no_dot) |
                              (hyphen & no_hyphen) | (masks.plus & in_domain);
  return at != 0 && wrong == 0;
}

}  // namespace

PlainLine read_plain_line(const char* line, char* buffer) noexcept {
  Masks masks;
  classify(line, 0, masks, buffer);
  classify(line, 16, masks, buffer);
  if (masks.line_end == 0) {
    classify(line, 32, masks, buffer);
    classify(line, 48, masks, buffer);
    if (masks.line_end == 0) return {};
  }
  const auto end = static_cast<unsigned>(std::countr_zero(masks.line_end));
  const unsigned size = end != 0 && line[end - 1] == '\r' ? end - 1 : end;
  if (size == 0 || !is_plain_address(masks, size)) return {};
  const bool folded = (masks.upper & ((std::uint64_t{1} << size) - 1)) != 0;
  return {end + std::size_t{1}, {folded ? buffer : line, size}};
}

#else

// Without SSE2 every line takes the way through canonicalize_line(), which gives the same keys.
PlainLine read_plain_line(const char* /*line*/, char* /*buffer*/) noexcept {
  return {};
}

#endif

}  // namespace bloomgate
