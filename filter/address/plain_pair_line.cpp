#include "filter/address/plain_pair_line.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "filter/address/pair.hpp"
#include "filter/address/plain_words.hpp"

namespace bloomgate {

#ifdef __SSE2__
namespace {

__extension__ using TwoWords = unsigned __int128;

// One bit for each byte of a line, from its first byte on, for each kind of byte that matters. `Bits` are
// std::uint64_t, or TwoWords where the line is longer. What comes behind the line has bits, too.
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
  const plain_words::Word word = Registers::classify(text, folded);
  const plain_words::SignBytes sign = Registers::sign_bytes(text);
  return {word.plain, word.at, word.dot, word.plus, word.line_feed, word.carriage_return, sign.space, sign.greater};
}

[[gnu::always_inline]] inline LineBytes<TwoWords> joined(const LineBytes<std::uint64_t>& low,
                                                         const LineBytes<std::uint64_t>& high) noexcept {
  const auto join = [&](auto kind) { return static_cast<TwoWords>(high.*kind) << 64 | low.*kind; };
  using Word = LineBytes<std::uint64_t>;
  return {join(&Word::plain), join(&Word::at),        join(&Word::dot),
          join(&Word::plus),  join(&Word::line_feed), join(&Word::carriage_return),
          join(&Word::space), join(&Word::greater)};
}

// All bits from the lowest one on that is set; none where none is.
template <typename Bits>
constexpr Bits from_lowest(Bits bits) noexcept {
  return ~bits + 1;
}

std::size_t place_of(std::uint64_t bit) noexcept {
  return static_cast<std::size_t>(std::countr_zero(bit));
}

std::size_t place_of(TwoWords bit) noexcept {
  const auto low = static_cast<std::uint64_t>(bit);
  return low != 0 ? place_of(low) : 64 + place_of(static_cast<std::uint64_t>(bit >> 64));
}

// Where a pair is in its line.
struct PairPlaces {
  bool is_plain = false;    // the line is two plain addresses with one sign, " > ", between them
  std::size_t greater = 0;  // the rest is of use only then: the '>' of the sign,
  std::size_t end = 0;      // the byte behind the recipient,
  std::size_t line_end = 0;
};

// Of a line that has a line feed.
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
                      | (marks & (marks << 1 | edges))  // nothing before a dot or the '@', or nothing behind it
                      | (domains & line.plus);          // bytes that only a local part may have
  return {.is_plain = faults == 0 && sender_at != 0 && recipient_at != 0,
          .greater = place_of(greater),
          .end = place_of(end),
          .line_end = place_of(line_feed)};
}

}  // namespace

template <typename Registers>
[[gnu::always_inline]] inline const char* PlainPairLines::read_by(const char* at, const char* end) noexcept {
  std::size_t count = 0;
  char* key = key_text_.data();
  while (at < end && count < kMost) {
    LineBytes<std::uint64_t> line = classify<Registers>(at, folded_.data());
    // The bytes in memory after the text are not the list's.
    const auto text_bytes = static_cast<std::size_t>(end - at);
    line.line_feed &= plain_words::within_text(text_bytes);
    PairPlaces pair;
    if (line.line_feed != 0) {
      pair = find_pair(line);
    } else if (text_bytes > 64) {
      LineBytes<std::uint64_t> rest = classify<Registers>(at + 64, folded_.data() + 64);
      rest.line_feed &= plain_words::within_text(text_bytes - 64);
      if (rest.line_feed != 0) pair = find_pair(joined(line, rest));
    }
    if (!pair.is_plain) break;
    const std::size_t sender_bytes = pair.greater - 1;
    const std::size_t recipient_bytes = pair.end - pair.greater - 2;
    if (sender_bytes >= kCopied || recipient_bytes >= kCopied) break;  // so that no part of an address can be too long
    // Of one size, which is faster than of the right one: what is too much is written over, or behind the keys.
    std::memcpy(key, folded_.data(), kCopied);
    key[sender_bytes] = kPairSeparator;
    std::memcpy(key + sender_bytes + 1, folded_.data() + pair.greater + 2, kCopied);
    const std::size_t key_bytes = sender_bytes + 1 + recipient_bytes;
    keys_[count++] = {key, key_bytes};
    key += key_bytes;
    at += pair.line_end + 1;
  }
  count_ = count;
  return at;
}

[[gnu::flatten]] BLOOMGATE_AVX2 const char* PlainPairLines::read_by_32(const char* at, const char* end) noexcept {
  return read_by<plain_words::By32>(at, end);
}

[[gnu::flatten]] BLOOMGATE_AVX512 const char* PlainPairLines::read_at_once(const char* at, const char* end) noexcept {
  return read_by<plain_words::AtOnce>(at, end);
}

const char* PlainPairLines::read(const char* at, const char* end) noexcept {
  if (registers_ == PlainLines::Registers::of_512_bits) return read_at_once(at, end);
  if (registers_ == PlainLines::Registers::of_256_bits) return read_by_32(at, end);
  return read_by<plain_words::By16>(at, end);
}

#else

// Without SSE2 every line goes through canonicalize_list_line(), which gives the same keys.
const char* PlainPairLines::read(const char* at, const char* /*end*/) noexcept {
  count_ = 0;
  return at;
}

#endif

}  // namespace bloomgate
