#include "filter/cli/harvest/address_book.hpp"

#include <algorithm>
#include <charconv>

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

// Whether the line has a parameter ENCODING=QUOTED-PRINTABLE, which vCard 2.1 also writes without its name.
bool is_quoted_printable(std::string_view line) noexcept {
  constexpr std::string_view kName = "ENCODING=";
  std::string_view head = line.substr(0, find_unquoted(line, ':'));
  while (head.size() != line.size()) {
    const std::size_t next = head.find(';');
    if (next == std::string_view::npos) return false;
    head.remove_prefix(next + 1);
    std::string_view parameter = head.substr(0, head.find(';'));
    if (ascii::equal_ignoring_case(parameter.substr(0, kName.size()), kName)) parameter.remove_prefix(kName.size());
    if (ascii::equal_ignoring_case(parameter, "QUOTED-PRINTABLE")) return true;
  }
  return false;
}

// RFC 2045 section 6.7. What is not encoded so stays as it is.
std::string from_quoted_printable(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    unsigned value = 0;
    const bool is_whole = text.front() == '=' && text.size() > 2;
    const char* const end = is_whole ? text.data() + 3 : text.data();
    if (is_whole && std::from_chars(text.data() + 1, end, value, 16).ptr == end) {
      decoded += static_cast<char>(value);
      text.remove_prefix(3);
    } else {
      decoded += text.front();
      text.remove_prefix(1);
    }
  }
  return decoded;
}

}  // namespace

std::optional<std::string> vcard_address(std::string_view line) {
  constexpr std::string_view kScheme = "mailto:";
  const std::size_t colon = find_unquoted(line, ':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view name = line.substr(0, std::min(colon, line.find(';')));
  name = name.substr(name.rfind('.') + 1);  // npos + 1 is the beginning
  if (!ascii::equal_ignoring_case(name, "EMAIL")) return std::nullopt;
  std::string decoded;
  std::string_view value = line.substr(colon + 1);
  if (is_quoted_printable(line)) value = decoded = from_quoted_printable(value);
  value = ascii::trimmed(value, kBlanksAndLineEnds);
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
    if (ends_softly_) {
      if (line_.size() + line.size() <= kMostBytes) line_ += line;
    } else if (!line.starts_with(' ') && !line.starts_with('\t')) {
      finish();
      line_ = line.substr(0, kMostBytes);
    } else if (line_.size() + line.size() <= kMostBytes) {
      line_ += line.substr(1);
    }
    // The next line is then a part of this one, whatever it looks like.
    ends_softly_ = line.ends_with('=') && is_quoted_printable(line_);
    if (ends_softly_ && line_.ends_with('=')) line_.pop_back();
  }
}

void VcardReader::finish() {
  if (const auto address = vcard_address(line_))
    add_contact(canonicalize_line(*address), users_, {}, rules_, counts_, sink_);
  line_.clear();
  ends_softly_ = false;
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
  // A row that names a user is one message of a log; an address book has none, however often it has a contact.
  MessageMark message = {};
  if (columns_->user) message = {.hash = counts_.contacts, .is_logged = true};
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
        add_contact(contact, users, message, rules_, counts_, sink_);
      }
      rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
    }
  }
}

}  // namespace bloomgate::cli
