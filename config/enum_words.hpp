// The words for the values of an enumeration, in options, logs and figures: one table per enumeration, in the order of
// the values. Pure; safe from any thread.
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

// Makes a table from all values of the enumeration, from 0 on. A table that omits a value before its end, or has the
// values in another order, does not compile.
template <typename Enum, std::size_t size>
consteval std::array<std::string_view, size> enum_words(const EnumWord<Enum> (&pairs)[size]) {
  std::array<std::string_view, size> words;
  for (std::size_t i = 0; i < size; ++i) {
    if (static_cast<std::size_t>(pairs[i].value) != i) throw "the values are not in their order";
    words[i] = pairs[i].word;
  }
  return words;
}

// The words of an enumeration from which an operator chooses. Each such enumeration specialises this beside its
// definition.
template <typename Enum>
inline constexpr auto kWordsOf = nullptr;

// Never fails: a value beyond the table gives the last word.
template <typename Enum, std::size_t size>
constexpr std::string_view word_of(const std::array<std::string_view, size>& words, Enum value) noexcept {
  return words[std::min(static_cast<std::size_t>(value), size - 1)];
}
template <typename Enum>
constexpr std::string_view word_of(Enum value) noexcept {
  return word_of(kWordsOf<Enum>, value);
}

}  // namespace bloomgate
