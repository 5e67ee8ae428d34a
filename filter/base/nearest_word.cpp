#include "filter/base/nearest_word.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

// Longer than the name of every command and option.
constexpr std::size_t kMostBytes = 64;

std::string folded(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](char c) { return c == '_' ? '-' : ascii::to_lower(c); });
  return text;
}

std::size_t edits_between(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), last(to.size() + 1), now(to.size() + 1);
  for (std::size_t column = 0; column <= to.size(); ++column) last[column] = column;
  for (std::size_t row = 1; row <= from.size(); ++row) {
    now[0] = row;
    for (std::size_t column = 1; column <= to.size(); ++column) {
      const std::size_t exchanged = last[column - 1] + (from[row - 1] == to[column - 1] ? 0 : 1);
      now[column] = std::min({last[column] + 1, now[column - 1] + 1, exchanged});
      const bool is_swap = row > 1 && column > 1 && from[row - 1] == to[column - 2] && from[row - 2] == to[column - 1];
      if (is_swap) now[column] = std::min(now[column], before[column - 2] + 1);
    }
    before = std::exchange(last, now);
  }
  return last.back();
}

}  // namespace

std::string_view nearest_word(std::string_view typed, std::span<const std::string> known) {
  if (typed.size() > kMostBytes) return {};
  const std::string word = folded(typed);
  std::string_view nearest;
  // `on` is not a mistyped `no`, but `ad` is nearly `add`.
  const bool is_short = typed.size() == 2;
  std::size_t fewest = is_short ? 2 : typed.size() / 3 + 1;
  for (const std::string& each : known) {
    if (is_short && each.size() != 3) continue;
    const std::size_t edits = edits_between(word, folded(each));
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = each;
  }
  return nearest;
}

std::string nearest_word_hint(std::string_view typed, std::span<const std::string> known, std::string_view before) {
  const std::string_view nearest = nearest_word(typed, known);
  const bool is_typed = before.empty() && nearest == typed;  // then something else is wrong
  if (nearest.empty() || is_typed) return {};
  return " (did you mean " + std::string(before) + std::string(nearest) + "?)";
}

std::string nearest_word_hint(std::string_view typed, std::span<const std::string_view> known) {
  return nearest_word_hint(typed, std::vector<std::string>(known.begin(), known.end()));
}

}  // namespace bloomgate
