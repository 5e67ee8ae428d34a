#include "filter/address/plain_line.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "filter/address/plain_words.hpp"

namespace bloomgate {

#ifdef __SSE2__

bool PlainLines::has(Registers registers) noexcept {
  const bool has_bit_instructions = __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  switch (registers) {
    case Registers::of_128_bits:
      return true;
    case Registers::of_256_bits:
      return has_bit_instructions && __builtin_cpu_supports("avx2") != 0;
    case Registers::of_512_bits:
      return has_bit_instructions && __builtin_cpu_supports("avx512bw") != 0;
  }
  return false;
}

PlainLines::Registers PlainLines::widest() noexcept {
  for (const Registers registers : {Registers::of_512_bits, Registers::of_256_bits}) {
    if (has(registers)) return registers;
  }
  return Registers::of_128_bits;
}

template <typename Registers>
[[gnu::always_inline]] inline const char* PlainLines::read_by(const char* at, const char* end) noexcept {
  constexpr std::uint64_t kMostBytes = 63;  // so that no part of an address can be too long
  plain_words::Grammar grammar;
  count_ = 0;
  std::size_t start = 0;  // of the line, in the text and in what is folded
  const auto text_bytes = static_cast<std::size_t>(end - at);
  for (std::size_t offset = 0; offset < std::min(text_bytes, sizeof folded_); offset += 64) {
    if (count_ + kMostOfWord > kMost) break;
    const plain_words::Word word = Registers::classify(at + offset, folded_.data() + offset);
    const std::uint64_t faults = grammar.faults(word);
    // The bytes in memory after the text are not the list's.
    std::uint64_t line_ends =
        word.line_feed & plain_words::within_text(text_bytes - offset) & plain_words::before_first(faults);
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

[[gnu::flatten]] BLOOMGATE_AVX2 const char* PlainLines::read_by_32(const char* at, const char* end) noexcept {
  return read_by<plain_words::By32>(at, end);
}

[[gnu::flatten]] BLOOMGATE_AVX512 const char* PlainLines::read_at_once(const char* at, const char* end) noexcept {
  return read_by<plain_words::AtOnce>(at, end);
}

const char* PlainLines::read(const char* at, const char* end) noexcept {
  if (registers_ == Registers::of_512_bits) return read_at_once(at, end);
  if (registers_ == Registers::of_256_bits) return read_by_32(at, end);
  return read_by<plain_words::By16>(at, end);
}

#else

bool PlainLines::has(Registers registers) noexcept {
  return registers == Registers::of_128_bits;
}

PlainLines::Registers PlainLines::widest() noexcept {
  return Registers::of_128_bits;
}

// Without SSE2 every line goes through canonicalize_line(), which gives the same keys.
const char* PlainLines::read(const char* at, const char* /*end*/) noexcept {
  count_ = 0;
  return at;
}

#endif

}  // namespace bloomgate
