// Lists in a table of cases, as one text each.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace bloomgate::test {

// "a, b" as {"a", "b"}, and "" as {}.
inline std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(", "), text.size());
    items.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return items;
}

}  // namespace bloomgate::test
