#include "filter/base/shell_word.hpp"

#include <algorithm>

#include "filter/base/ascii.hpp"

namespace bloomgate {

std::string shell_word(std::string_view text, std::string_view stand_in) {
  const auto is_safe_in_quotes = [](char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '\\'; };
  const auto is_plain = [](char c) {
    return ascii::is_letter_or_digit(c) || std::string_view("@._+=-:/").find(c) != std::string_view::npos;
  };
  if (text.empty() || text.front() == '-' || !std::ranges::all_of(text, is_safe_in_quotes)) {
    return std::string(stand_in);
  }
  return std::ranges::all_of(text, is_plain) ? std::string(text) : std::string("'").append(text).append("'");
}

}  // namespace bloomgate
