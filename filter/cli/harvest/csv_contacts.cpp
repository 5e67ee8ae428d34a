#include "filter/cli/harvest/csv_contacts.hpp"

#include "filter/base/ascii.hpp"
#include "filter/cli/lists/csv_format.hpp"

namespace bloomgate::cli {

std::optional<CsvColumns> CsvColumns::find(std::string_view first_row) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (first_row.starts_with(kByteOrderMark)) first_row.remove_prefix(kByteOrderMark.size());
  const auto names = split_csv_row(first_row);
  if (!names) return std::nullopt;
  CsvColumns named;
  CsvColumns mail;
  for (std::size_t column = 0; column < names->size(); ++column) {
    const std::string name = ascii::lower_case((*names)[column]);
    if (name == "user") named.user = column;
    if (name == "contact") named.contacts.push_back(column);
    if (name.find("mail") != std::string::npos) mail.contacts.push_back(column);
  }
  if (!named.contacts.empty()) return named;
  if (!mail.contacts.empty()) return mail;
  return std::nullopt;
}

}  // namespace bloomgate::cli
