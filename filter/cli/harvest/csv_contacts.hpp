// Which columns of a table hold addresses, by the names in its first row. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace bloomgate::cli {

struct CsvColumns {
  std::vector<std::size_t> contacts = {};  // from 0
  std::optional<std::size_t> user = {};    // who wrote to them, if a column says so
  char separator = ',';                    // between the fields; or a semicolon, or a tab

  // `contact`, and `user` if it is there; or else every column that has `mail` or `email` as a word of its name and
  // holds addresses, as the address books of Google, Outlook, Thunderbird and LinkedIn have. Nothing if there is none.
  static std::optional<CsvColumns> find(std::string_view first_row);
};

}  // namespace bloomgate::cli
