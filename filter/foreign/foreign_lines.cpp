#include "filter/foreign/foreign_lines.hpp"

#include "filter/base/ascii.hpp"
#include "filter/foreign/sender_pattern.hpp"

namespace bloomgate {

std::optional<LogicalLine> LogicalLines::next() {
  std::optional<LogicalLine> found;
  while (!rest_.empty()) {
    std::string_view after = rest_;
    const std::string_view line = take_foreign_line(after);
    const std::string_view words = ascii::trimmed(line, kBlanks);
    const bool is_continued = !line.empty() && kBlanks.find(line.front()) != std::string_view::npos;
    const bool counts = !words.empty() && words.front() != '#';
    if (counts && !is_continued && found) return found;
    rest_ = after;
    ++number_;
    if (!counts) continue;
    if (!is_continued) {
      found = LogicalLine{number_, std::string(ascii::trimmed_back(line, kBlanks))};
    } else if (found) {
      found->text.append(" ").append(words);
    }
  }
  return found;
}

}  // namespace bloomgate
