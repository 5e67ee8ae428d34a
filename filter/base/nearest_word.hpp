// Finds the word that a user has mistyped: a command, or the name of an option. Pure; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

// The word of `known` that is the fewest edits away. An edit adds, removes or replaces a letter, or swaps two
// neighbours (Damerau 1964). Capitals, and '_' for '-', count as no edit. Empty if more than one edit for three letters
// is needed; of a word of two letters, one may be missing.
std::string_view nearest_word(std::string_view typed, std::span<const std::string> known);

// " (did you mean X?)" with `before` in front of X, for a message; empty if no word is near.
std::string nearest_word_hint(std::string_view typed, std::span<const std::string> known, std::string_view before = {});
std::string nearest_word_hint(std::string_view typed, std::span<const std::string_view> known);

}  // namespace bloomgate
