// The builder's fast path through the canonicaliser: lines that are plain addresses, 64 bytes of text at a time.
//
// Nearly every line of a real list is a short ASCII address with nothing to do but fold case. For those, this gives the
// very keys that canonicalize_line() gives, some ten times faster; everything else it leaves to that function. A fuzz
// target holds the two against each other. Different objects may be used by different threads at once.
//
// The text is turned into streams of bits, one for each kind of byte that matters, and the grammar into arithmetic on
// them, so that the rules hold for all lines of a word at once (after Langdale and Lemire, "Parsing gigabytes of JSON
// per second", 2019).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace bloomgate {

class PlainLines {
 public:
  // The registers that bytes are classified in. The results are the same.
  enum class Registers { any, of_128_bits, of_512_bits };

  // `registers` must be among those that the processor has: any, the widest ones, or those which every x86-64 has. (On
  // other processors nothing is ever found plain.)
  explicit PlainLines(Registers registers = Registers::any) noexcept;

  static bool has_512_bits() noexcept;

  // How many bytes behind the text must be readable.
  static constexpr std::size_t kReadable = 64;

  // Reads the plain lines from `at`, the start of a line, on, as for the profile that folds case: up to a few hundred
  // of them, and up to the first one that is not plain (or longer than 63 bytes) or has no line end before `end`. Gives
  // where it stopped, which is the start of a line or `end`.
  const char* read(const char* at, const char* end) noexcept;

  // Of the lines that were read last; valid until the next read().
  std::span<const std::string_view> keys() const noexcept { return {keys_.data(), count_}; }

 private:
  static constexpr std::size_t kWords = 64;       // of 64 bytes, in one go
  static constexpr std::size_t kMostOfWord = 17;  // lines that can end in a word: the shortest are `a@b`
  static constexpr std::size_t kMost = 256;

  bool wide_;
  std::size_t count_ = 0;
  std::array<std::string_view, kMost> keys_;
  alignas(64) std::array<char, kWords * 64> folded_;
};

}  // namespace bloomgate
