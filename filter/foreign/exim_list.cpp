// Files for Exim: one item on each line, or a key and its value as for the look-up lsearch (Exim specification,
// "Address lists" and "Single-key lookup types").
#include <algorithm>
#include <array>
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
  if (key.starts_with('+') || key.find(';') != std::string_view::npos) {
    return {.text = {}, .fault = "the name of another list"};
  }
  if (key.starts_with('@')) return {.text = {}, .fault = "a special item"};
  if (key.find('@') != std::string_view::npos || key.find('*') != std::string_view::npos) return entry_of_glob(key);
  return entry_of_domain(key, false);
}

// A key without a value, or with one that says yes. Others mean what the configuration makes of them.
bool says_yes(std::string_view value) {
  const std::string word =
      ascii::lower_case(ascii::trimmed(ascii::trimmed_front(ascii::trimmed(value, kBlanks), ":"), kBlanks));
  return std::ranges::any_of(std::array<std::string_view, 7>{"", "yes", "true", "1", "ok", "accept", "allow"},
                             [&](std::string_view good) { return word == good; });
}

}  // namespace

void read_exim(std::string_view text, ForeignList& list) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    // A line that begins with white space continues the value of the one before it.
    if (line.empty() || line.front() == '#' || kBlanks.find(line.front()) != std::string_view::npos) continue;
    const std::string_view item = ascii::trimmed(line, kBlanks);
    if (item.starts_with('!')) {
      const std::string_view excepted = key_of(ascii::trimmed(item.substr(1), kBlanks));
      list.block(number, item, entry_of_exim_item(excepted), "an exception");
      continue;
    }
    const std::string_view key = key_of(item);
    const std::size_t behind =
        static_cast<std::size_t>(key.data() + key.size() - item.data()) + (item.starts_with('"') ? 1 : 0);
    if (says_yes(item.substr(std::min(behind, item.size())))) {
      list.take(number, item, entry_of_exim_item(key), true);
    } else {
      list.block(number, item, entry_of_exim_item(key), "its value does not say that mail is good");
    }
  }
}

}  // namespace bloomgate
