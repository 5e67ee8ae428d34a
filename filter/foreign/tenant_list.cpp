// The allow list of a tenant of Microsoft 365, as `Get-TenantAllowBlockListItems -ListType Sender | Export-Csv` writes
// it.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "filter/base/ascii.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/foreign/foreign_list.hpp"
#include "filter/ingest/csv_format.hpp"

namespace bloomgate {
namespace {

struct Columns {
  std::size_t value = 0;
  std::size_t action = 0;
  // The number of columns, if the table lacks the column.
  std::size_t type = 0;
  std::size_t expires = 0;
  std::size_t remove_after = 0;

  static std::optional<Columns> of(const std::vector<std::string>& names) {
    const auto number = [&](std::string_view name) {
      return static_cast<std::size_t>(
          std::ranges::find_if(names, [&](const std::string& each) { return ascii::equal_ignoring_case(each, name); }) -
          names.begin());
    };
    const Columns columns = {number("Value"), number("Action"), std::min(number("ListType"), number("EntryType")),
                             number("ExpirationDate"), number("RemoveAfter")};
    if (std::max(columns.value, columns.action) >= names.size()) return std::nullopt;
    return columns;
  }
};

SenderEntry entry_of_allowed(std::string_view value) {
  if (value.find('@') != std::string_view::npos || value.starts_with('*')) return entry_of_glob(value);
  return entry_of_domain(value, false);
}

// A row ends at a line end that is not between quotes.
std::string_view take_row(std::string_view& text) noexcept {
  bool in_quotes = false;
  const std::size_t end = std::min(find_line_end(text, true, in_quotes), text.size());
  const std::string_view row = text.substr(0, end);
  text.remove_prefix(end);
  return row;
}

}  // namespace

void read_tenant(std::string_view text, ForeignList& list) {
  std::optional<Columns> columns;
  char separator = ',';
  for (std::uint64_t number = 1; !text.empty();) {
    const std::string_view row = take_row(text);
    const std::string_view shown = ascii::trimmed(row, "\r\n");
    const std::uint64_t here = number;
    number += static_cast<std::uint64_t>(std::ranges::count(row, '\n'));
    if (shown.empty() || shown.starts_with("#TYPE")) continue;
    if (!columns) separator = csv_separator_of(shown);
    const auto fields = split_csv_row(shown, separator);
    if (!fields) {
      list.leave_out(here, shown, "its quotes are wrong");
    } else if (!columns) {
      columns = Columns::of(*fields);
      if (!columns) return list.leave_out(here, shown, "it names no columns Value and Action");
    } else if (std::max(columns->value, columns->action) >= fields->size()) {
      list.leave_out(here, shown, "it has too few columns");
    } else if (!ascii::equal_ignoring_case((*fields)[columns->action], "Allow")) {
      const std::string& value = (*fields)[columns->value];
      const SenderEntry entry = entry_of_allowed(value);
      constexpr std::string_view kReason = "it does not allow its sender";
      entry.text.empty() ? list.block_glob(here, shown, value, kReason) : list.block(here, shown, entry, kReason);
    } else if (columns->type < fields->size() && !ascii::equal_ignoring_case((*fields)[columns->type], "Sender")) {
      list.leave_out(here, shown, "it is not of a sender");
    } else if (columns->expires < fields->size() && !(*fields)[columns->expires].empty()) {
      list.leave_out(here, shown, "it ends at a date");
    } else if (columns->remove_after < fields->size() && !(*fields)[columns->remove_after].empty() &&
               (*fields)[columns->remove_after] != "0") {
      list.leave_out(here, shown, "it ends some days after its last use");
    } else {
      list.take(here, (*fields)[columns->value], entry_of_allowed((*fields)[columns->value]));
    }
  }
}

}  // namespace bloomgate
