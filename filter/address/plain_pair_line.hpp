// The builder's fast path for pairs: lines `sender > recipient` of which both sides are plain addresses, by way of
// PlainLines. For those, this gives the same keys as canonicalize_list_line(); it leaves everything else to that
// function. A fuzz target compares the two. Different threads may use different objects at once.
//
// It rests on the key of a pair: without the " > ", and with a line feed in its place, a pair is two plain lines, and
// what PlainLines makes of these, one behind the other, is the key.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "filter/address/plain_line.hpp"

namespace bloomgate {

class PlainPairLines {
 public:
  explicit PlainPairLines(PlainLines::Registers registers = PlainLines::Registers::any) noexcept : lines_(registers) {}

  // Reads the plain pairs from `at` on, which is the start of a line, as PlainLines::read() does plain addresses: for
  // the profile that folds case, with as many bytes readable after `end`. Stops after some dozens, or at the first line
  // that is no plain pair. Returns where it stopped: the start of a line or `end`.
  const char* read(const char* at, const char* end) noexcept;

  // The keys of the pairs that were read last; valid until the next read().
  std::span<const std::string_view> keys() const noexcept { return {keys_.data(), count_}; }

 private:
  static constexpr std::size_t kTextBytes = 64 * 64;  // what PlainLines reads in one go
  static constexpr std::size_t kMost = 100;           // of which each is two lines to PlainLines, which stops at 239

  std::size_t copy_lines(const char* at, const char* end) noexcept;

  PlainLines lines_;
  std::size_t count_ = 0;
  std::array<std::string_view, kMost> keys_;
  std::array<char, kTextBytes + PlainLines::kReadable> text_;
};

}  // namespace bloomgate
