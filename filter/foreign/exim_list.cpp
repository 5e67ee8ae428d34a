// Files for Exim: one item on each line, or a key and its value as for the look-up lsearch (Exim specification,
// "Address lists" and "Single-key lookup types").
#include <algorithm>
#include <array>
#include <string>

#include "filter/base/ascii.hpp"
#include "filter/foreign/foreign_lines.hpp"
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

// Whether the key has no value, or one that means yes. The meaning of other values depends on the configuration.
bool says_yes(std::string_view value) {
  const std::string word =
      ascii::lower_case(ascii::trimmed(ascii::trimmed_front(ascii::trimmed(value, kBlanks), ":"), kBlanks));
  return std::ranges::any_of(std::array<std::string_view, 7>{"", "yes", "true", "1", "ok", "accept", "allow"},
                             [&](std::string_view good) { return word == good; });
}

void block(std::uint64_t line, std::string_view item, std::string_view key, std::string_view reason,
           ForeignList& list) {
  const bool is_unknown = entry_of_exim_item(key).text.empty() && (key.starts_with('^') || key.starts_with('+') ||
                                                                   key.starts_with('@') || key.find(';') != key.npos);
  if (is_unknown) return list.block_unknown(line, item, reason);
  if (key.find_first_of("@*") == key.npos) return list.block(line, item, entry_of_exim_item(key), reason);
  list.block_glob(line, item, key, reason);
}

}  // namespace

void read_exim(std::string_view text, ForeignList& list) {
  LogicalLines lines(text);
  while (const auto line = lines.next()) {
    const std::string_view item = line->text;
    if (item.starts_with('!')) {
      block(line->number, item, key_of(ascii::trimmed(item.substr(1), kBlanks)), "an exception", list);
      continue;
    }
    const std::string_view key = key_of(item);
    const std::size_t behind =
        static_cast<std::size_t>(key.data() + key.size() - item.data()) + (item.starts_with('"') ? 1 : 0);
    if (says_yes(item.substr(std::min(behind, item.size())))) {
      list.take(line->number, item, entry_of_exim_item(key), true);
    } else {
      block(line->number, item, key, "its value does not say that mail is good", list);
    }
  }
}

}  // namespace bloomgate
