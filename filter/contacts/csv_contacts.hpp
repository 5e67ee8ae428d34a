// Which columns of a table hold addresses, by the row that names them. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace bloomgate {

struct CsvColumns {
  std::vector<std::size_t> contacts = {};  // from 0
  std::optional<std::size_t> user = {};    // who wrote to them, if a column says so
  char separator = ',';                    // between the fields; or a semicolon, or a tab
  std::size_t count = 0;                   // of all columns
  bool is_address_book = false;            // and no table of who wrote to whom

  // `contact`, and `user` if it is there; or else every column that is named as one of mail addresses and of nothing
  // else, in English, Dutch, French, German, Italian, Portuguese or Spanish, as the address books of Google, Outlook,
  // Thunderbird and LinkedIn name them. Nothing if there is none.
  static std::optional<CsvColumns> find(std::string_view row);

  // Whether the names may stand in the line behind that one: it is empty, or says what stands between fields (`sep=;`).
  // Notes above a table end with an empty line. A correspondent's name in a row could look like names of columns.
  static bool may_come_behind(std::string_view line) noexcept;
};

}  // namespace bloomgate
