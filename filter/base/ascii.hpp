// Which class a byte of ASCII text is in, whatever the locale, and a few functions for such text. They leave bytes
// beyond ASCII alone. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
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

// Of one hexadecimal digit; -1 if it is none.
constexpr int hex_value(char byte) noexcept {
  if (is_digit(byte)) return byte - '0';
  return is_hex_digit(byte) ? to_lower(byte) - 'a' + 10 : -1;
}
// The byte that the first two characters of `text` write in hexadecimal digits; -1 if they do not.
constexpr int hex_byte(std::string_view text) noexcept {
  const int high = text.empty() ? -1 : hex_value(text[0]);
  const int low = text.size() < 2 ? -1 : hex_value(text[1]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

inline constexpr std::uint64_t kEachByte = 0x0101010101010101;
inline constexpr std::uint64_t kTopBits = kEachByte * 0x80;

// The first eight bytes of a text that has so many, in one word.
inline std::uint64_t first_word(std::string_view text) noexcept {
  std::uint64_t word;
  std::memcpy(&word, text.data(), sizeof word);
  return word;
}

inline bool is_ascii(std::string_view text) noexcept {
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    if ((first_word(text) & kTopBits) != 0) return false;
  }
  return std::ranges::all_of(text, [](char byte) { return is_ascii(byte); });
}

// Whether `text` has a control character for which `is_meant` holds. Eight bytes at once, since nearly no text has one:
// a byte under 0x20 borrows from its top bit if 0x20 is taken off, and so does a zero if one is.
template <typename Predicate>
bool has_control(std::string_view text, Predicate is_meant) noexcept {
  const auto is_it = [&](char byte) { return is_control(byte) && is_meant(byte); };
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    const std::uint64_t word = first_word(text);
    const std::uint64_t of_delete = word ^ kEachByte * 0x7f;
    const std::uint64_t low = (word - kEachByte * 0x20) & ~word;
    const std::uint64_t deleted = (of_delete - kEachByte) & ~of_delete;
    if (((low | deleted) & kTopBits) != 0 && std::ranges::any_of(text.substr(0, sizeof word), is_it)) return true;
  }
  return std::ranges::any_of(text, is_it);
}

constexpr bool equal_ignoring_case(std::string_view one, std::string_view other) noexcept {
  return std::ranges::equal(one, other, {}, to_lower, to_lower);
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

}  // namespace bloomgate::ascii
