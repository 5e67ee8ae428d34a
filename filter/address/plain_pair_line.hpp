// The builder's fast path for pairs: lines `sender > recipient` of which both sides are plain addresses, as PlainLines
// takes them. For those, this gives the same keys as canonicalize_list_line(); it leaves everything else to that
// function. A fuzz target compares the two. Different threads may use different objects at once.
//
// It finds all signs and line ends of a few dozen lines first, where they stand, and then copies the sides of each pair
// into its key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "filter/address/plain_line.hpp"

namespace bloomgate {

class PlainPairLines {
 public:
  explicit PlainPairLines(PlainLines::Registers registers = PlainLines::Registers::any) noexcept;

  // Reads the plain pairs from `at` on, which is the start of a line, as PlainLines::read() does plain addresses: for
  // the profile that folds case, with as many bytes readable after `end`. Stops after some dozens, or at the first line
  // that is no plain pair. Returns where it stopped: the start of a line or `end`.
  const char* read(const char* at, const char* end) noexcept;

  // The keys of the pairs that were read last; valid until the next read().
  std::span<const std::string_view> keys() const noexcept { return {keys_.data(), count_}; }

 private:
  static constexpr std::size_t kTextBytes = 64 * 64;  // in one go
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kCopied = 64;  // a side is copied by as many bytes, and has at most one less

  // Where the signs and the line ends of the pairs are, in the text and in what is folded.
  struct Places {
    std::size_t count = 0;                    // of pairs
    std::array<std::uint16_t, kMost> behind;  // the second space of each sign
    std::array<std::uint16_t, kMost> line_end;
  };

  template <typename Registers>
  void find_pairs(const char* at, std::size_t text_bytes, Places& places) noexcept;
  template <typename Registers>
  const char* read_by(const char* at, const char* end) noexcept;
  const char* read_at_once(const char* at, const char* end) noexcept;

  bool wide_;
  std::size_t count_ = 0;
  std::array<std::string_view, kMost> keys_;
  alignas(64) std::array<char, kTextBytes + kCopied> folded_;
  std::array<char, kTextBytes + kCopied> key_text_;  // a key is shorter than its line
};

}  // namespace bloomgate
