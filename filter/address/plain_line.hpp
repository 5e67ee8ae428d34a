// The builder's fast path through the canonicaliser: lines that are plain addresses, 64 bytes of text at a time.
//
// Nearly every line of a real list is a short ASCII address with nothing to do but fold case. For those, this gives the
// same keys as canonicalize_line(), some ten times faster; it leaves everything else to that function. A fuzz target
// compares the two. Different threads may use different objects at once.
//
// It turns the text into streams of bits, one for each kind of byte that matters, and the grammar into arithmetic on
// them. So it applies the rules to all lines of a word at once (after Langdale and Lemire, "Parsing gigabytes of JSON
// per second", 2019).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bloomgate {

// The key of an address or of a pair of addresses, and the part of it that is the key `@domain` of its sender's domain
// (filter/domains/sender_domain.hpp), which reading the line finds anyway.
class PlainKey {
 public:
  PlainKey() = default;
  PlainKey(const char* data, std::size_t bytes, std::size_t at, std::size_t sender_bytes) noexcept
      : data_(data),
        bytes_(static_cast<std::uint32_t>(bytes)),
        at_(static_cast<std::uint16_t>(at)),
        sender_bytes_(static_cast<std::uint16_t>(sender_bytes)) {}

  std::string_view text() const noexcept { return {data_, bytes_}; }
  std::string_view domain() const noexcept { return {data_ + at_, static_cast<std::size_t>(sender_bytes_ - at_)}; }

 private:
  const char* data_ = nullptr;
  std::uint32_t bytes_ = 0;
  std::uint16_t at_ = 0;
  std::uint16_t sender_bytes_ = 0;
};

class PlainLines {
 public:
  // The size of the registers that classify bytes. The results are the same for all sizes. (On processors other than
  // x86-64 and 64-bit ARM no line counts as plain.)
  enum class Registers { of_128_bits, of_256_bits, of_512_bits };
  static bool has(Registers registers) noexcept;  // whether the processor has them
  static Registers widest() noexcept;

  // The processor must have `registers`.
  explicit PlainLines(Registers registers = widest()) noexcept : registers_(registers) {}

  // How many bytes after the text must be readable.
  static constexpr std::size_t kReadable = 64;

  // Reads the plain lines from `at` on, which is the start of a line, for the profile that folds case. Stops after a
  // few hundred lines, or at the first one that is not plain (or is longer than 63 bytes) or has no line end before
  // `end`. Returns where it stopped: the start of a line or `end`.
  const char* read(const char* at, const char* end) noexcept;

  // The keys of the lines that were read last; valid until the next read().
  std::span<const PlainKey> keys() const noexcept { return {keys_.data(), count_}; }

 private:
  static constexpr std::size_t kWords = 64;       // of 64 bytes, in one go
  static constexpr std::size_t kMostOfWord = 17;  // lines that can end in a word: the shortest are `a@b`
  static constexpr std::size_t kMost = 256;

  template <typename Registers>
  const char* read_by(const char* at, const char* end) noexcept;
  const char* read_by_16(const char* at, const char* end) noexcept;
  const char* read_by_32(const char* at, const char* end) noexcept;
  const char* read_by_64(const char* at, const char* end) noexcept;

  Registers registers_;
  std::size_t count_ = 0;
  std::array<PlainKey, kMost> keys_;
  alignas(64) std::array<char, kWords * 64> folded_;
};

// The builder's fast path for pairs: lines `sender > recipient` of which both sides are plain addresses in the sense of
// PlainLines. For those, this gives the same keys as canonicalize_list_line(); it leaves everything else to that
// function. A fuzz target compares the two. Different threads may use different objects at once.
//
// A pair is nearly as long as a word of 64 bytes. So it reads one line at a time, with the line's first byte as the
// first bit. Then no rule has to be carried from word to word, and a line that ends in its first word needs one word.
class PlainPairLines {
 public:
  explicit PlainPairLines(PlainLines::Registers registers = PlainLines::widest()) noexcept : registers_(registers) {}

  // Reads the plain pairs from `at` on, which is the start of a line, under the conditions of PlainLines::read(): for
  // the profile that folds case, with as many bytes readable after `end`. Stops after some dozens of lines, or at the
  // first line that is no plain pair, has more than 127 bytes, or has a side of more than 63 bytes. Returns where it
  // stopped: the start of a line or `end`.
  const char* read(const char* at, const char* end) noexcept;

  // The keys of the pairs that were read last; valid until the next read().
  std::span<const PlainKey> keys() const noexcept { return {keys_.data(), count_}; }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kCopied = 64;  // each side is copied with this fixed size; it has at most 63 bytes

  template <typename Registers>
  const char* read_by(const char* at, const char* end) noexcept;
  const char* read_by_16(const char* at, const char* end) noexcept;
  const char* read_by_32(const char* at, const char* end) noexcept;
  const char* read_by_64(const char* at, const char* end) noexcept;

  PlainLines::Registers registers_;
  std::size_t count_ = 0;
  std::array<PlainKey, kMost> keys_;
  alignas(64) std::array<char, 2 * 64 + kCopied> folded_;  // one line, and room for a copy that reads past it
  std::array<char, kMost * 2 * kCopied> key_text_;
};

}  // namespace bloomgate
