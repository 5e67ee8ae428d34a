// The words that stand for the values of an enumeration, in options, logs and figures: one table for each, in the order
// of the values. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace bloomgate {

template <typename Enum>
struct EnumWord {
  Enum value;
  std::string_view word;
};

// Takes all values of the enumeration, from 0 on. A table that leaves one out before its end, or has it in another
// place, does not compile.
template <typename Enum, std::size_t size>
consteval std::array<std::string_view, size> enum_words(const EnumWord<Enum> (&pairs)[size]) {
  std::array<std::string_view, size> words;
  for (std::size_t i = 0; i < size; ++i) {
    if (static_cast<std::size_t>(pairs[i].value) != i) throw "the values are not in their order";
    words[i] = pairs[i].word;
  }
  return words;
}

// The words of enumerations that an operator chooses from: specialised beside each.
template <typename Enum>
inline constexpr auto kWordsOf = nullptr;

// Never fails.
template <typename Enum, std::size_t size>
constexpr std::string_view word_of(const std::array<std::string_view, size>& words, Enum value) noexcept {
  return words[std::min(static_cast<std::size_t>(value), size - 1)];
}
template <typename Enum>
constexpr std::string_view word_of(Enum value) noexcept {
  return word_of(kWordsOf<Enum>, value);
}

}  // namespace bloomgate
