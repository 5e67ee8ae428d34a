#include "filter/address/plain_pair_line.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "filter/address/pair.hpp"
#include "filter/address/plain_words.hpp"

namespace bloomgate {

#ifdef __SSE2__
namespace {

using plain_words::Run;
using plain_words::Shift;
using plain_words::SignBytes;
using plain_words::Word;

// Finds, in a stream of words, every line that is not two plain addresses with one sign, " > ", between them.
class PairGrammar {
 public:
  struct Found {
    std::uint64_t faults = 0;  // a bit for each byte that breaks a rule; it is never one of another line
    std::uint64_t behind = 0;  // the second space of each sign
  };

  Found next(const Word& word, const SignBytes& sign) noexcept {
    const std::uint64_t after_greater = after_greater_.next(sign.greater);
    const std::uint64_t before = sign.space & ~after_greater;
    const std::uint64_t behind = sign.space & after_greater;
    const std::uint64_t after_before = after_before_.next(before);
    const std::uint64_t line_ends = word.line_feed | word.carriage_return;
    const std::uint64_t run = run_.next(~word.line_feed, behind);
    const std::uint64_t in_recipient = ~word.line_feed & ~run;

    const std::uint64_t of_sides = sides_.faults(word, line_ends | sign.space | sign.greater, line_ends | before);
    const std::uint64_t of_signs = (sign.greater ^ after_before)    // a '>' without a space before it, or the reverse
                                   | (after_greater & ~sign.space)  // or without one behind it
                                   | (before & in_recipient)        // a second sign
                                   | (word.line_feed & ~run);       // none
    return {.faults = of_sides | of_signs, .behind = behind};
  }

 private:
  plain_words::Grammar sides_;
  Run run_;  // from the sign to the line feed
  Shift after_greater_{false};
  Shift after_before_{false};
};

// Puts the place of each bit at `places`, and returns how many there are.
std::size_t put_places(std::uint64_t bits, std::size_t offset, std::uint16_t* places) noexcept {
  std::size_t count = 0;
  for (; bits != 0; bits &= bits - 1) {
    places[count++] = static_cast<std::uint16_t>(offset + static_cast<unsigned>(std::countr_zero(bits)));
  }
  return count;
}

}  // namespace

PlainPairLines::PlainPairLines(PlainLines::Registers registers) noexcept : wide_(PlainLines::are_wide(registers)) {}

template <typename Registers>
[[gnu::always_inline]] inline void PlainPairLines::find_pairs(const char* at, std::size_t text_bytes,
                                                              Places& places) noexcept {
  // The shortest have ten bytes, `a@b > c@d` and a line feed, and one sign may be there already without its line end.
  constexpr std::size_t kMostOfWord = 8;
  PairGrammar grammar;
  std::size_t signs = 0;
  for (std::size_t offset = 0; offset < std::min(text_bytes, kTextBytes); offset += 64) {
    if (places.count + kMostOfWord > kMost) break;
    const Word word = Registers::classify(at + offset, folded_.data() + offset);
    const PairGrammar::Found found = grammar.next(word, Registers::sign_bytes(at + offset));
    // The bytes in memory after the text are not the list's.
    const std::uint64_t good = plain_words::within_text(text_bytes - offset) & plain_words::before_first(found.faults);
    signs += put_places(found.behind & good, offset, places.behind.data() + signs);
    places.count += put_places(word.line_feed & good, offset, places.line_end.data() + places.count);
    if (found.faults != 0) break;
  }
}

template <typename Registers>
[[gnu::always_inline]] inline const char* PlainPairLines::read_by(const char* at, const char* end) noexcept {
  count_ = 0;
  Places places;
  find_pairs<Registers>(at, static_cast<std::size_t>(end - at), places);
  std::size_t start = 0;  // of the line
  char* key = key_text_.data();
  for (; count_ < places.count; ++count_) {
    const std::size_t behind = places.behind[count_];
    const std::size_t line_end = places.line_end[count_];
    const std::size_t sender_bytes = behind - 2 - start;
    std::size_t recipient_bytes = line_end - behind - 1;
    if (folded_[line_end - 1] == '\r') --recipient_bytes;
    if (sender_bytes >= kCopied || recipient_bytes >= kCopied) break;  // so that no part of an address can be too long
    // Of one size, which is faster than of the right one: what is too much is written over, or behind the keys.
    std::memcpy(key, folded_.data() + start, kCopied);
    key[sender_bytes] = kPairSeparator;
    std::memcpy(key + sender_bytes + 1, folded_.data() + behind + 1, kCopied);
    const std::size_t key_bytes = sender_bytes + 1 + recipient_bytes;
    keys_[count_] = {key, key_bytes};
    key += key_bytes;
    start = line_end + 1;
  }
  return at + start;
}

[[gnu::flatten]] BLOOMGATE_AVX512 const char* PlainPairLines::read_at_once(const char* at, const char* end) noexcept {
  return read_by<plain_words::AtOnce>(at, end);
}

const char* PlainPairLines::read(const char* at, const char* end) noexcept {
  return wide_ ? read_at_once(at, end) : read_by<plain_words::By16>(at, end);
}

#else

PlainPairLines::PlainPairLines(PlainLines::Registers /*registers*/) noexcept : wide_(false) {}

// Without SSE2 every line goes through canonicalize_list_line(), which gives the same keys.
const char* PlainPairLines::read(const char* at, const char* /*end*/) noexcept {
  count_ = 0;
  return at;
}

#endif

}  // namespace bloomgate
