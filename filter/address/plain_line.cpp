#include "filter/address/plain_line.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace bloomgate {

#ifdef __SSE2__
namespace {

// One bit for each of 64 bytes: whether the byte is of that kind.
struct Word {
  std::uint64_t plain = 0;  // allowed in a local part, or the '@'
  std::uint64_t at = 0;
  std::uint64_t dot = 0;
  std::uint64_t plus = 0;  // and the other bytes that only a local part may have
  std::uint64_t line_feed = 0;
  std::uint64_t carriage_return = 0;
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

// Classifies 64 bytes and writes them to `folded` in lower case.
Word classify_by_16(const char* text, char* folded) noexcept {
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
    _mm_store_si128(reinterpret_cast<__m128i*>(folded + offset), _mm_or_si128(bytes, _mm_and_si128(letter, case_bit)));
    word.plain |= mask_of(plain, offset);
    word.at |= mask_of(at, offset);
    word.dot |= mask_of(dot, offset);
    word.plus |= mask_of(plus, offset);
    word.line_feed |= mask_of(equal(bytes, '\n'), offset);
    word.carriage_return |= mask_of(equal(bytes, '\r'), offset);
  }
  return word;
}

#define BLOOMGATE_AVX512 [[gnu::target("avx512bw")]]

BLOOMGATE_AVX512 std::uint64_t equal(__m512i bytes, char byte) noexcept {
  return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte));
}

BLOOMGATE_AVX512 std::uint64_t in_range(__m512i bytes, char first, char count) noexcept {
  return _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(first)), _mm512_set1_epi8(count));
}

// The same with one register for all 64.
BLOOMGATE_AVX512 Word classify_at_once(const char* text, char* folded) noexcept {
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

#undef BLOOMGATE_AVX512

// A stream of bits, moved by one place: each byte's bit is now at the byte after it.
class Shift {
 public:
  explicit Shift(bool before_first) noexcept : carry_(before_first ? 1 : 0) {}
  std::uint64_t next(std::uint64_t word) noexcept {
    const std::uint64_t shifted = word << 1 | carry_;
    carry_ = word >> 63;
    return shifted;
  }

 private:
  std::uint64_t carry_;
};

// Finds, in a stream of words, every line that is not a dot-string, '@' and labels without anything unusual.
class Grammar {
 public:
  // A bit for each byte that breaks a rule; it is never one of another line.
  std::uint64_t faults(const Word& word) noexcept {
    const std::uint64_t end = word.line_feed | word.carriage_return;
    const std::uint64_t within = ~end;
    // The '@' runs as a carry through the bytes of its line up to the line's end, where it leaves a bit.
    std::uint64_t carried = 0;
    const bool first_carry = __builtin_add_overflow(within, word.at, &carried);
    const bool second_carry = __builtin_add_overflow(carried, in_domain_carry_, &carried);
    in_domain_carry_ = first_carry || second_carry ? 1 : 0;
    const std::uint64_t in_domain = within & ~carried;  // from the '@' on, except a further '@', which is a fault

    const std::uint64_t after_mark = after_mark_.next(word.at | word.dot);
    const std::uint64_t after_end = after_end_.next(end);
    const std::uint64_t after_domain = after_domain_.next(in_domain);
    const std::uint64_t after_return = after_return_.next(word.carriage_return);

    return (within & ~word.plain)                               // bytes that are not allowed at all
           | ((word.dot | word.at) & (after_end | after_mark))  // nothing before a dot or the '@'
           | (word.at & after_domain)                           // a second '@'
           | (end & (after_mark | (~carried & ~after_return)))  // nothing after them; no '@'
           | (in_domain & word.plus)                            // bytes that only a local part may have
           | (after_return & ~word.line_feed);
  }

 private:
  std::uint64_t in_domain_carry_ = 0;
  Shift after_mark_{false};
  Shift after_end_{true};
  Shift after_domain_{false};
  Shift after_return_{false};
};

}  // namespace

bool PlainLines::has_512_bits() noexcept {
  return __builtin_cpu_supports("avx512bw") != 0;
}

PlainLines::PlainLines(Registers registers) noexcept
    : wide_(registers == Registers::of_512_bits || (registers == Registers::any && has_512_bits())) {}

const char* PlainLines::read(const char* at, const char* end) noexcept {
  constexpr std::uint64_t kMostBytes = 63;  // so that no part of an address can be too long
  Grammar grammar;
  count_ = 0;
  std::size_t start = 0;  // of the line, in the text and in what is folded
  const auto text_bytes = static_cast<std::size_t>(end - at);
  for (std::size_t offset = 0; offset < std::min(text_bytes, sizeof folded_); offset += 64) {
    if (count_ + kMostOfWord > kMost) break;
    const Word word = (wide_ ? classify_at_once : classify_by_16)(at + offset, folded_.data() + offset);
    std::uint64_t line_ends = word.line_feed;
    // The bytes in memory after the text are not the list's.
    if (text_bytes - offset < 64) line_ends &= (std::uint64_t{1} << (text_bytes - offset)) - 1;
    const std::uint64_t faults = grammar.faults(word);
    if (faults != 0) line_ends &= (faults & (~faults + 1)) - 1;
    for (; line_ends != 0; line_ends &= line_ends - 1) {
      const auto place = static_cast<unsigned>(std::countr_zero(line_ends));
      const std::size_t line_end = offset + place;
      std::size_t bytes = line_end - start;
      if (folded_[line_end - 1] == '\r') --bytes;
      if (bytes > kMostBytes) return at + start;
      keys_[count_++] = {folded_.data() + start, bytes};
      start = line_end + 1;
    }
    if (faults != 0) break;
  }
  return at + start;
}

#else

bool PlainLines::has_512_bits() noexcept {
  return false;
}

PlainLines::PlainLines(Registers /*registers*/) noexcept : wide_(false) {}

// Without SSE2 every line goes through canonicalize_line(), which gives the same keys.
const char* PlainLines::read(const char* at, const char* /*end*/) noexcept {
  count_ = 0;
  return at;
}

#endif

}  // namespace bloomgate
