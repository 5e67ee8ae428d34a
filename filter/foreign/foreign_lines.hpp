// The lines of other programs' files. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

// Removes the first line from `text`, and returns it without its end, LF or CR LF. A CR within a line does not end it:
// these programs treat it as a part of the line.
constexpr std::string_view take_foreign_line(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

struct LogicalLine {
  std::uint64_t number = 0;  // of its first line, from 1
  std::string text;
};

// Logical lines in the sense of Postfix and Exim: a line that begins with white space continues the line before it.
// Empty lines and comments do not count, also between two such lines.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) noexcept : rest_(text) {}

  std::optional<LogicalLine> next();

 private:
  std::string_view rest_;
  std::uint64_t number_ = 0;
};

}  // namespace bloomgate
