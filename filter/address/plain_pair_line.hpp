// The builder's fast path for pairs: lines `sender > recipient` of which both sides are plain addresses, as PlainLines
// takes them. For those, this gives the same keys as canonicalize_list_line(); it leaves everything else to that
// function. A fuzz target compares the two. Different threads may use different objects at once.
//
// A pair is nearly as long as a word of 64 bytes. So it takes one line at a time, with the line's first byte as the
// first bit: no rule then has to be carried from word to word, and a line with an end in its first word takes one.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "filter/address/plain_line.hpp"

namespace bloomgate {

class PlainPairLines {
 public:
  explicit PlainPairLines(PlainLines::Registers registers = PlainLines::widest()) noexcept : registers_(registers) {}

  // Reads the plain pairs from `at` on, which is the start of a line, as PlainLines::read() does plain addresses: for
  // the profile that folds case, with as many bytes readable after `end`. Stops after some dozens, or at the first line
  // that is no plain pair, has a side of more than 63 bytes or more than 127 bytes. Returns where it stopped: the start
  // of a line or `end`.
  const char* read(const char* at, const char* end) noexcept;

  // The keys of the pairs that were read last; valid until the next read().
  std::span<const std::string_view> keys() const noexcept { return {keys_.data(), count_}; }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kCopied = 64;  // a side is copied by as many bytes, and has at most one less

  template <typename Registers>
  const char* read_by(const char* at, const char* end) noexcept;
  const char* read_by_16(const char* at, const char* end) noexcept;
  const char* read_by_32(const char* at, const char* end) noexcept;
  const char* read_by_64(const char* at, const char* end) noexcept;

  PlainLines::Registers registers_;
  std::size_t count_ = 0;
  std::array<std::string_view, kMost> keys_;
  alignas(64) std::array<char, 2 * 64 + kCopied> folded_;  // of one line, and what is copied beyond it
  std::array<char, kMost * 2 * kCopied> key_text_;
};

}  // namespace bloomgate
