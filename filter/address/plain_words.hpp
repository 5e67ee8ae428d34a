// Text as streams of bits: 64 bytes at a time, one bit for each byte and for each kind of byte that matters, and the
// grammar of plain addresses as arithmetic on these. For plain_line.cpp and plain_pair_line.cpp only; there is none of
// it on processors without SSE2.
#pragma once

#include <cstdint>

#ifdef __SSE2__
#include <immintrin.h>

namespace bloomgate::plain_words {

// One bit for each of 64 bytes: whether the byte is of that kind.
struct Word {
  std::uint64_t plain = 0;  // allowed in a local part, or the '@'
  std::uint64_t at = 0;
  std::uint64_t dot = 0;
  std::uint64_t plus = 0;  // and the other bytes that only a local part may have
  std::uint64_t line_feed = 0;
  std::uint64_t carriage_return = 0;
};

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

// For functions that work with registers of 256 bits, and of 512. Processors with these have the instructions for bits,
// too.
#define BLOOMGATE_AVX2 [[gnu::target("avx2,bmi,bmi2")]]
#define BLOOMGATE_AVX512 [[gnu::target("avx512bw,bmi,bmi2")]]

BLOOMGATE_AVX2 inline __m256i equal(__m256i bytes, char byte) noexcept {
  return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte));
}

BLOOMGATE_AVX2 inline __m256i in_range(__m256i bytes, char first, char count) noexcept {
  const __m256i above = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
  return _mm256_cmpeq_epi8(_mm256_min_epu8(above, _mm256_set1_epi8(count)), above);
}

BLOOMGATE_AVX2 inline std::uint64_t mask_of(__m256i bytes) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}

BLOOMGATE_AVX512 inline std::uint64_t equal(__m512i bytes, char byte) noexcept {
  return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte));
}

BLOOMGATE_AVX512 inline std::uint64_t in_range(__m512i bytes, char first, char count) noexcept {
  return _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(first)), _mm512_set1_epi8(count));
}

// The two kinds of byte that the sign of a pair, " > ", is made of.
struct SignBytes {
  std::uint64_t space = 0;
  std::uint64_t greater = 0;
};

// Which registers the words are made in, for what reads them. The results are the same. What calls it with By32 or
// AtOnce has BLOOMGATE_AVX2 or BLOOMGATE_AVX512, and flattens it, so that the words need not go through memory.
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

// Two halves of 32 bytes.
struct By32 {
  BLOOMGATE_AVX2 static Word classify(const char* text, char* folded) noexcept {
    const Word low = classify_half(text, folded);
    const Word high = classify_half(text + 32, folded + 32);
    return {.plain = low.plain | high.plain << 32,
            .at = low.at | high.at << 32,
            .dot = low.dot | high.dot << 32,
            .plus = low.plus | high.plus << 32,
            .line_feed = low.line_feed | high.line_feed << 32,
            .carriage_return = low.carriage_return | high.carriage_return << 32};
  }

  BLOOMGATE_AVX2 static SignBytes sign_bytes(const char* text) noexcept {
    const __m256i low = load(text);
    const __m256i high = load(text + 32);
    return {.space = mask_of(equal(low, ' ')) | mask_of(equal(high, ' ')) << 32,
            .greater = mask_of(equal(low, '>')) | mask_of(equal(high, '>')) << 32};
  }

 private:
  BLOOMGATE_AVX2 static __m256i load(const char* text) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
  }

  BLOOMGATE_AVX2 static Word classify_half(const char* text, char* folded) noexcept {
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

// All 64 bytes in one register.
struct AtOnce {
  BLOOMGATE_AVX512 static Word classify(const char* text, char* folded) noexcept {
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

  BLOOMGATE_AVX512 static SignBytes sign_bytes(const char* text) noexcept {
    const __m512i bytes = _mm512_loadu_si512(text);
    return {.space = equal(bytes, ' '), .greater = equal(bytes, '>')};
  }
};

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

// A bit that runs, as the carry of an addition, through the bytes of its line up to the line's end.
class Run {
 public:
  // `within` has the bytes through which it runs, `starts` those of them at which it starts. Returns the sum: bytes
  // that are within and have no bit are behind a start, and an end has one where there was a start.
  std::uint64_t next(std::uint64_t within, std::uint64_t starts) noexcept {
    std::uint64_t sum = 0;
    const bool first_carry = __builtin_add_overflow(within, starts, &sum);
    const bool second_carry = __builtin_add_overflow(sum, carry_, &sum);
    carry_ = first_carry || second_carry ? 1 : 0;
    return sum;
  }

 private:
  std::uint64_t carry_ = 0;
};

// Finds, in a stream of words, every address that is not a dot-string, '@' and labels without anything unusual.
class Grammar {
 public:
  // Returns a bit for each byte that breaks a rule; it is never one of another line.
  std::uint64_t faults(const Word& word) noexcept {
    const std::uint64_t ends = word.line_feed | word.carriage_return;
    const std::uint64_t within = ~ends;
    const std::uint64_t run = run_.next(within, word.at);
    const std::uint64_t in_domain = within & ~run;  // from the '@' on, except a further '@', which is a fault

    const std::uint64_t after_mark = after_mark_.next(word.at | word.dot);
    const std::uint64_t after_end = after_end_.next(ends);
    const std::uint64_t after_domain = after_domain_.next(in_domain);
    const std::uint64_t after_return = after_return_.next(word.carriage_return);

    return (within & ~word.plain)                               // bytes that are not allowed at all
           | ((word.dot | word.at) & (after_end | after_mark))  // nothing before a dot or the '@'
           | (word.at & after_domain)                           // a second '@'
           | (ends & (after_mark | (~run & ~after_return)))     // nothing after them; no '@'
           | (in_domain & word.plus)                            // bytes that only a local part may have
           | (after_return & ~word.line_feed);
  }

 private:
  Run run_;
  Shift after_mark_{false};
  Shift after_end_{true};
  Shift after_domain_{false};
  Shift after_return_{false};
};

// The bits of a word before its first fault.
inline std::uint64_t before_first(std::uint64_t faults) noexcept {
  return ~faults & (faults - 1);
}

// The bits of a word that has only `bytes` bytes left of the text.
inline std::uint64_t within_text(std::uint64_t bytes) noexcept {
  return bytes < 64 ? (std::uint64_t{1} << bytes) - 1 : ~std::uint64_t{0};
}

}  // namespace bloomgate::plain_words

#endif
