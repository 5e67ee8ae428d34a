#include "filter/cli/harvest/address_book.hpp"

#include <algorithm>

#include "filter/base/ascii.hpp"
#include "filter/cli/lists/csv_format.hpp"
#include "filter/cli/lists/format.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::string_view kBlanksAndLineEnds = " \t\r\n";

// The first `wanted` that is not between double quotes.
std::size_t find_unquoted(std::string_view text, char wanted) noexcept {
  bool in_quotes = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_quotes = !in_quotes;
    if (text[at] == wanted && !in_quotes) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::string> vcard_address(std::string_view line) {
  constexpr std::string_view kScheme = "mailto:";
  const std::size_t colon = find_unquoted(line, ':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view name = line.substr(0, std::min(colon, line.find(';')));
  name = name.substr(name.rfind('.') + 1);  // npos + 1 is the beginning
  if (!ascii::equal_ignoring_case(name, "EMAIL")) return std::nullopt;
  std::string_view value = ascii::trimmed(line.substr(colon + 1), kBlanksAndLineEnds);
  if (ascii::equal_ignoring_case(value.substr(0, kScheme.size()), kScheme)) value.remove_prefix(kScheme.size());
  std::string address;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool escapes = value[at] == '\\' && at + 1 < value.size() &&
                         std::string_view(",;:").find(value[at + 1]) != std::string_view::npos;
    if (!escapes) address += value[at];
  }
  return address;
}

void VcardReader::read(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = take_line(lines);
    if (!line.starts_with(' ') && !line.starts_with('\t')) {
      finish();
      line_ = line.substr(0, kMostBytes);
    } else if (line_.size() + line.size() <= kMostBytes) {
      line_ += line.substr(1);
    }
  }
}

void VcardReader::finish() {
  if (const auto address = vcard_address(line_))
    add_contact(canonicalize_line(*address), users_, rules_, counts_, sink_);
  line_.clear();
}

void CsvContactsReader::read(std::string_view lines) {
  while (!lines.empty()) {
    bool in_quotes = false;
    const std::size_t end = std::min(find_line_end(lines, true, in_quotes), lines.size());
    read_row(lines.substr(0, end));
    lines.remove_prefix(end);
  }
}

void CsvContactsReader::read_row(std::string_view row) {
  if (!columns_) {
    columns_ = CsvColumns::find(row);
    if (columns_ && !says_users_) columns_->user.reset();
    if (users_.empty() && !(columns_ && columns_->user)) throw unknown_user("an address book");
    return;
  }
  const auto fields = split_csv_row(row, columns_->separator);
  if (!fields) return counts_.leave_out(LeftOut::unreadable);
  std::string user;
  Users users = users_;
  if (columns_->user) {
    const Entry entry = canonicalize_line(*columns_->user < fields->size() ? (*fields)[*columns_->user] : "");
    if (entry.kind() != EntryKind::address || !rules_.own_domains.contains(entry.domain())) {
      return counts_.leave_out(LeftOut::foreign_sender);
    }
    user = entry.key();
    users = Users(&user, 1);
  }
  for (const std::size_t column : columns_->contacts) {
    if (column >= fields->size()) continue;
    // Google puts several addresses into one field.
    constexpr std::string_view kBetween = ":::";
    std::string_view rest = (*fields)[column];
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(kBetween), rest.size());
      const Entry contact = canonicalize_line(ascii::trimmed(rest.substr(0, end), kBlanksAndLineEnds));
      // Columns such as `Mailing address` and `E-mail 1 - Type` hold something else.
      if (contact.kind() != EntryKind::blank && rest.substr(0, end).find('@') != std::string_view::npos) {
        add_contact(contact, users, rules_, counts_, sink_);
      }
      rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
    }
  }
}

}  // namespace bloomgate::cli
