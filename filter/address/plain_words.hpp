// Text as streams of bits: 64 bytes at a time, one bit for each byte and for each kind of byte that matters, and the
// grammar of plain addresses and pairs as arithmetic on these. For plain_words_*.cpp only, one file for each size of
// registers. On processors other than x86-64 and 64-bit ARM none of it is compiled.
//
// Each of these files compiles this header with its own instructions. It flattens its reading functions, so that all of
// the header is inlined, and the linker cannot replace one file's functions by another's.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "filter/address/pair.hpp"
#include "filter/address/plain_line.hpp"

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

// The two kinds of byte that the sign of a pair, " > ", is made of.
struct SignBytes {
  std::uint64_t space = 0;
  std::uint64_t greater = 0;
};

// A stream of bits, moved by one position: each byte's bit is now at the byte after it.
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
  // `within` has the bytes through which it runs, `starts` those of them at which it starts. In the sum that it
  // returns, a byte of `within` without a bit is behind a start. A line end has a bit if its line had a start.
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

// Finds, in a stream of words, every address that is not a plain one: a dot-string, '@' and ordinary labels.
class Grammar {
 public:
  // Returns a bit for each byte that breaks a rule. A fault never sets a bit in another line.
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

__extension__ using TwoWords = unsigned __int128;

// One bit for each byte of a line, from its first byte on, for each kind of byte that matters. `Bits` is std::uint64_t,
// or TwoWords for a longer line. The bytes after the line have bits, too.
template <typename Bits>
struct LineBytes {
  Bits plain = 0;
  Bits at = 0;
  Bits dot = 0;
  Bits plus = 0;
  Bits line_feed = 0;
  Bits carriage_return = 0;
  Bits space = 0;
  Bits greater = 0;
};

template <typename Registers>
[[gnu::always_inline]] inline LineBytes<std::uint64_t> classify(const char* text, char* folded) noexcept {
  const Word word = Registers::classify(text, folded);
  const SignBytes sign = Registers::sign_bytes(text);
  return {word.plain, word.at, word.dot, word.plus, word.line_feed, word.carriage_return, sign.space, sign.greater};
}

[[gnu::always_inline]] inline LineBytes<TwoWords> joined(const LineBytes<std::uint64_t>& low,
                                                         const LineBytes<std::uint64_t>& high) noexcept {
  const auto join = [&](auto kind) { return static_cast<TwoWords>(high.*kind) << 64 | low.*kind; };
  using Half = LineBytes<std::uint64_t>;
  return {join(&Half::plain), join(&Half::at),        join(&Half::dot),
          join(&Half::plus),  join(&Half::line_feed), join(&Half::carriage_return),
          join(&Half::space), join(&Half::greater)};
}

// All bits from the lowest set bit on; no bits if none is set.
template <typename Bits>
constexpr Bits from_lowest(Bits bits) noexcept {
  return ~bits + 1;
}

inline std::size_t place_of(std::uint64_t bit) noexcept {
  return static_cast<std::size_t>(std::countr_zero(bit));
}

inline std::size_t last_place_of(std::uint64_t bits) noexcept {
  return 63 - static_cast<std::size_t>(std::countl_zero(bits));
}

inline std::size_t place_of(TwoWords bit) noexcept {
  const auto low = static_cast<std::uint64_t>(bit);
  return low != 0 ? place_of(low) : 64 + place_of(static_cast<std::uint64_t>(bit >> 64));
}

// Where a pair is in its line.
struct PairPlaces {
  bool is_plain = false;    // the line is two plain addresses with one sign, " > ", between them
  std::size_t at = 0;       // valid only if is_plain, like all below: the '@' of the sender,
  std::size_t greater = 0;  // the '>' of the sign,
  std::size_t end = 0;      // the byte after the recipient,
  std::size_t line_end = 0;
};

// `line` must have a line feed.
template <typename Bits>
[[gnu::always_inline]] inline PairPlaces find_pair(const LineBytes<Bits>& line) noexcept {
  const Bits line_feed = line.line_feed & from_lowest(line.line_feed);
  const Bits last = line_feed >> 1;
  const Bits end = (line.carriage_return & last) != 0 ? last : line_feed;
  const Bits within = end - 1;
  const Bits greater = line.greater & within;
  const Bits sign = greater << 1 | greater | greater >> 1;
  const Bits sender = (greater - 1) >> 1;  // all before the sign
  const Bits recipient = within & from_lowest(greater << 2);
  const Bits sender_at = line.at & sender;
  const Bits recipient_at = line.at & recipient;
  const Bits domains =
      (sender & from_lowest(sender_at)) | (recipient & from_lowest(recipient_at));  // each with its '@'
  const Bits marks = (line.at | line.dot) & within;
  const Bits edges = 1 | greater << 2 | greater >> 2 | end >> 1;  // the first and the last byte of each side
  const Bits faults = (within & ~(line.plain | sign))             // bytes that are not allowed at all
                      | (greater & (greater - 1))                 // a second '>'
                      | (sign & ~(line.greater | line.space))     // one without its spaces
                      | (sender_at & (sender_at - 1))             // a second '@'
                      | (recipient_at & (recipient_at - 1))       // also on this side
                      | (marks & (marks << 1 | edges))  // nothing before a dot or the '@', or nothing after it
                      | (domains & line.plus);          // bytes that only a local part may have
  return {.is_plain = faults == 0 && sender_at != 0 && recipient_at != 0,
          .at = place_of(sender_at),
          .greater = place_of(greater),
          .end = place_of(end),
          .line_end = place_of(line_feed)};
}

}  // namespace bloomgate::plain_words

namespace bloomgate {

// The functions below classify bytes with `Registers`. The results are the same for all sizes.
//   static Word classify(const char* text, char* folded): 64 bytes, which it also writes to `folded` in lower case
//   static SignBytes sign_bytes(const char* text): of 64 bytes

template <typename Registers>
[[gnu::always_inline]] inline const char* PlainLines::read_by(const char* at, const char* end) noexcept {
  constexpr std::uint64_t kMostBytes = 63;  // so that no part of an address can be too long
  plain_words::Grammar grammar;
  count_ = 0;
  std::size_t start = 0;    // of the line, in the text and in folded_
  std::size_t last_at = 0;  // the last '@' of the words before
  const auto text_bytes = static_cast<std::size_t>(end - at);
  for (std::size_t offset = 0; offset < std::min(text_bytes, sizeof folded_); offset += 64) {
    if (count_ + kMostOfWord > kMost) break;
    const plain_words::Word word = Registers::classify(at + offset, folded_.data() + offset);
    const std::uint64_t faults = grammar.faults(word);
    // The bytes in memory after the text are not part of the list.
    std::uint64_t line_ends =
        word.line_feed & plain_words::within_text(text_bytes - offset) & plain_words::before_first(faults);
    for (; line_ends != 0; line_ends &= line_ends - 1) {
      const std::uint64_t ats = word.at & ((line_ends & (~line_ends + 1)) - 1);
      const auto place = static_cast<unsigned>(std::countr_zero(line_ends));
      const std::size_t line_end = offset + place;
      std::size_t bytes = line_end - start;
      if (folded_[line_end - 1] == '\r') --bytes;
      if (bytes > kMostBytes) return at + start;
      const std::size_t at_sign = (ats != 0 ? offset + plain_words::last_place_of(ats) : last_at) - start;
      keys_[count_++] = PlainKey(folded_.data() + start, bytes, at_sign, bytes);
      start = line_end + 1;
    }
    if (faults != 0) break;
    if (word.at != 0) last_at = offset + plain_words::last_place_of(word.at);
  }
  return at + start;
}

template <typename Registers>
[[gnu::always_inline]] inline const char* PlainPairLines::read_by(const char* at, const char* end) noexcept {
  std::size_t count = 0;
  char* key = key_text_.data();
  while (at < end && count < kMost) {
    plain_words::LineBytes<std::uint64_t> line = plain_words::classify<Registers>(at, folded_.data());
    // The bytes in memory after the text are not part of the list.
    const auto text_bytes = static_cast<std::size_t>(end - at);
    line.line_feed &= plain_words::within_text(text_bytes);
    plain_words::PairPlaces pair;
    if (line.line_feed != 0) {
      pair = plain_words::find_pair(line);
    } else if (text_bytes > 64) {
      plain_words::LineBytes<std::uint64_t> rest = plain_words::classify<Registers>(at + 64, folded_.data() + 64);
      rest.line_feed &= plain_words::within_text(text_bytes - 64);
      if (rest.line_feed != 0) pair = plain_words::find_pair(plain_words::joined(line, rest));
    }
    if (!pair.is_plain) break;
    const std::size_t sender_bytes = pair.greater - 1;
    const std::size_t recipient_bytes = pair.end - pair.greater - 2;
    if (sender_bytes >= kCopied || recipient_bytes >= kCopied) break;  // so that no part of an address can be too long
    // A copy of fixed size is faster than one of the exact size. The next copy overwrites the excess, or it lies behind
    // the keys.
    std::memcpy(key, folded_.data(), kCopied);
    key[sender_bytes] = kPairSeparator;
    std::memcpy(key + sender_bytes + 1, folded_.data() + pair.greater + 2, kCopied);
    const std::size_t key_bytes = sender_bytes + 1 + recipient_bytes;
    keys_[count++] = PlainKey(key, key_bytes, pair.at, sender_bytes);
    key += key_bytes;
    at += pair.line_end + 1;
  }
  count_ = count;
  return at;
}

}  // namespace bloomgate
