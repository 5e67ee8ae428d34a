// Which of several words somebody meant who has mistyped one: a command, or the name of an option. Pure; safe from any
// thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

// The word of `known` that takes the fewest edits to reach: letters that are missing, too many, exchanged for another,
// or swapped with their neighbour (Damerau 1964), where capitals and '_' for '-' are none. Empty where it takes more
// than one edit for each three letters.
std::string_view nearest_word(std::string_view typed, std::span<const std::string> known);

// " (did you mean X?)" with `before` in front of X, for a message; empty where no word is near.
std::string nearest_word_hint(std::string_view typed, std::span<const std::string> known, std::string_view before = {});

}  // namespace bloomgate
