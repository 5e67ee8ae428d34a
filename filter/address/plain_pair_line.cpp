#include "filter/address/plain_pair_line.hpp"

#include <cstring>

namespace bloomgate {
namespace {

constexpr std::size_t kMostOfSide = 64;  // with its line end; PlainLines takes no longer line
static_assert(kMostOfSide <= PlainLines::kReadable);

const char* find(char byte, const char* at, const char* end) noexcept {
  return static_cast<const char*>(std::memchr(at, byte, static_cast<std::size_t>(end - at)));
}

}  // namespace

// Puts the sides of pairs into text_, a line each, and returns how many bytes they take.
std::size_t PlainPairLines::copy_lines(const char* at, const char* end) noexcept {
  std::size_t filled = 0;
  for (std::size_t pairs = 0; pairs < kMost && at < end; ++pairs) {
    const char* const line_end = find('\n', at, end);
    if (line_end == nullptr) break;
    const char* const sign = find('>', at, line_end);
    if (sign == nullptr || sign - at < 2 || sign[-1] != ' ' || sign[1] != ' ') break;
    // A carriage return there would be taken for a part of the line end that is put in.
    if (sign[-2] == '\r') break;
    const auto sender_bytes = static_cast<std::size_t>(sign - 1 - at);
    const char* const recipient = sign + 2;
    if (recipient > line_end) break;
    const auto recipient_bytes = static_cast<std::size_t>(line_end + 1 - recipient);
    if (sender_bytes >= kMostOfSide || recipient_bytes > kMostOfSide) break;
    if (filled + 2 * kMostOfSide > kTextBytes) break;
    // Of one size, which is faster than of the right one: what is too much is written over, or behind the text.
    std::memcpy(text_.data() + filled, at, kMostOfSide);
    text_[filled + sender_bytes] = '\n';
    filled += sender_bytes + 1;
    std::memcpy(text_.data() + filled, recipient, kMostOfSide);
    filled += recipient_bytes;
    at = line_end + 1;
  }
  return filled;
}

const char* PlainPairLines::read(const char* at, const char* end) noexcept {
  count_ = 0;
  const std::size_t filled = copy_lines(at, end);
  if (filled == 0) return at;
  lines_.read(text_.data(), text_.data() + filled);
  const std::span<const std::string_view> sides = lines_.keys();
  for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
    const std::string_view sender = sides[i];
    const std::string_view recipient = sides[i + 1];
    keys_[count_++] = {sender.data(), static_cast<std::size_t>(recipient.data() + recipient.size() - sender.data())};
    at += sender.size() + 3 + recipient.size();
    if (*at == '\r') ++at;
    ++at;
  }
  return at;
}

}  // namespace bloomgate
