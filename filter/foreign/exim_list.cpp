// Files for Exim: one item on each line, or a key and its value as for the look-up lsearch (Exim specification,
// "Address lists" and "Single-key lookup types").
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/foreign/foreign_list.hpp"

namespace bloomgate {
namespace {

// A key is in quotes, or ends at a colon or at white space.
std::string_view key_of(std::string_view line) noexcept {
  if (line.starts_with('"')) {
    const std::size_t end = line.find('"', 1);
    return end == std::string_view::npos ? line : line.substr(1, end - 1);
  }
  return line.substr(0, line.find_first_of(": \t\r\v\f"));
}

SenderEntry entry_of_exim_item(std::string_view key) {
  if (key.starts_with('^')) return {.text = {}, .fault = "a regular expression"};
  if (key.starts_with('!')) return {.text = {}, .fault = "an exception: what it excepts is for --except"};
  if (key.starts_with('+') || key.find(';') != std::string_view::npos) {
    return {.text = {}, .fault = "the name of another list"};
  }
  if (key.find('@') != std::string_view::npos || key.find('*') != std::string_view::npos) return entry_of_glob(key);
  return entry_of_domain(key, false);
}

}  // namespace

void read_exim(std::string_view text, ForeignList& list) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    // A line that begins with white space continues the value of the one before it.
    if (line.empty() || line.front() == '#' || kBlanks.find(line.front()) != std::string_view::npos) continue;
    list.take(number, ascii::trimmed(line, kBlanks), entry_of_exim_item(key_of(line)), true);
  }
}

}  // namespace bloomgate
