// Which class a byte of ASCII text is in, whatever the locale, and a few functions for such text. They leave bytes
// beyond ASCII alone. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate::ascii {

constexpr bool is_ascii(char byte) noexcept {
  return static_cast<unsigned char>(byte) < 0x80;
}
constexpr bool is_control(char byte) noexcept {
  return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f;
}
constexpr bool is_digit(char byte) noexcept {
  return byte >= '0' && byte <= '9';
}
constexpr char to_lower(char byte) noexcept {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte;
}
constexpr bool is_letter(char byte) noexcept {
  return to_lower(byte) >= 'a' && to_lower(byte) <= 'z';
}
constexpr bool is_letter_or_digit(char byte) noexcept {
  return is_letter(byte) || is_digit(byte);
}
constexpr bool is_hex_digit(char byte) noexcept {
  return is_digit(byte) || (to_lower(byte) >= 'a' && to_lower(byte) <= 'f');
}

// The value of one hexadecimal digit; -1 if `byte` is not one.
constexpr int hex_value(char byte) noexcept {
  if (is_digit(byte)) return byte - '0';
  return is_hex_digit(byte) ? to_lower(byte) - 'a' + 10 : -1;
}
// The byte that the first two characters of `text` write in hexadecimal digits; -1 if these are not two such digits.
constexpr int hex_byte(std::string_view text) noexcept {
  const int high = text.empty() ? -1 : hex_value(text[0]);
  const int low = text.size() < 2 ? -1 : hex_value(text[1]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

// Whether `is_it` holds for any byte of `text`. The loop tests all bytes, since in nearly every text it holds for none:
// compilers then test sixteen bytes at once. The last sixteen bytes of a longer text overlap the sixteen before them.
template <typename Predicate>
bool any_of_few(std::string_view text, Predicate is_it) noexcept {
  constexpr std::size_t kAtOnce = 16;
  unsigned char found = 0;
  if (text.size() < kAtOnce) {
    for (const char byte : text) found |= static_cast<unsigned char>(is_it(byte));
    return found != 0;
  }
  const auto look_at = [&](const char* bytes) {
    for (std::size_t at = 0; at < kAtOnce; ++at) found |= static_cast<unsigned char>(is_it(bytes[at]));
  };
  for (std::size_t at = 0; at + kAtOnce < text.size(); at += kAtOnce) look_at(text.data() + at);
  look_at(text.data() + text.size() - kAtOnce);
  return found != 0;
}

inline bool is_ascii(std::string_view text) noexcept {
  return !any_of_few(text, [](char byte) { return !is_ascii(byte); });
}

// Whether all of `text` is ASCII, without control characters.
inline bool is_printable(std::string_view text) noexcept {
  return !any_of_few(text, [](char byte) { return byte < ' ' || byte >= '\x7f'; });
}

// Whether `text` has a control character for which `is_meant` holds.
template <typename Predicate>
bool has_control(std::string_view text, Predicate is_meant) noexcept {
  return any_of_few(text, [&](char byte) { return is_control(byte) && is_meant(byte); });
}

// Compares byte by byte before it folds case: callers compare a field's name with several others, most of which differ
// in their first byte.
constexpr bool equal_ignoring_case(std::string_view one, std::string_view other) noexcept {
  if (one.size() != other.size()) return false;
  for (std::size_t at = 0; at < one.size(); ++at) {
    if (one[at] != other[at] && to_lower(one[at]) != to_lower(other[at])) return false;
  }
  return true;
}

// The position of the first `word` in `text`; npos if there is none. `word` must be in lower case.
constexpr std::size_t find_ignoring_case(std::string_view text, std::string_view word) noexcept {
  const auto* const found = std::search(text.begin(), text.end(), word.begin(), word.end(),
                                        [](char byte, char wanted) { return to_lower(byte) == wanted; });
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

// Throws std::bad_alloc.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), to_lower);
  return lower;
}

// `text` without the bytes at its start and end for which `is_blank` holds.
template <typename Predicate>
constexpr std::string_view trimmed_if(std::string_view text, Predicate is_blank) noexcept {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// `text` without the bytes of `blanks` at its start, at its end, or at both.
constexpr std::string_view trimmed_front(std::string_view text, std::string_view blanks) noexcept {
  return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}
constexpr std::string_view trimmed_back(std::string_view text, std::string_view blanks) noexcept {
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) noexcept {
  return trimmed_front(trimmed_back(text, blanks), blanks);
}

// `text` without UTF-8's byte order mark, with which some programs begin a file.
constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace bloomgate::ascii
