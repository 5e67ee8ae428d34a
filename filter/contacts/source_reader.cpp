#include "filter/contacts/source_reader.hpp"

#include <algorithm>
#include <array>

#include "filter/base/ascii.hpp"
#include "filter/contacts/address_book.hpp"
#include "filter/log/log_line.hpp"
#include "filter/mail/mail_header.hpp"

namespace bloomgate {
namespace {

// How many lines of a source may show its kind: text before a log's lines, or notes above a table, are shorter.
constexpr int kMostLines = 50;

// RFC 5322 section 2.2: no space before the colon.
bool is_header_field(std::string_view line) noexcept {
  return starts_field(line) && split_field(line).name.size() == line.find(':');
}

// Whether it is a field that the header of a message has; notes above a table may look like a field, too.
bool is_field_of_message(std::string_view line) noexcept {
  constexpr std::array<std::string_view, 9> kNames = {"From",     "To",          "Cc",         "Date",        "Subject",
                                                      "Received", "Return-Path", "Message-ID", "MIME-Version"};
  const std::string_view name = split_field(line).name;
  return std::ranges::any_of(kNames, [name](std::string_view each) { return ascii::equal_ignoring_case(name, each); });
}

// Whether there is nothing but fields and their continuation lines before the first empty line, or before the end of
// the known text, and one of them is a field of a message.
bool is_message(std::string_view start) noexcept {
  bool has_field = false;
  for (bool is_first = true; !start.empty(); is_first = false) {
    const bool is_whole = start.find('\n') != std::string_view::npos;
    const std::string_view line = take_text_line(start);
    if (line.empty()) break;
    const bool goes_on = !is_first && is_folded_line(line);
    // The last known line may be the beginning of a field.
    if (!goes_on && !is_header_field(line)) return has_field && !is_whole;
    has_field = has_field || (!goes_on && is_field_of_message(line));
  }
  return has_field;
}

}  // namespace

std::optional<SourceKind> recognise_source(std::string_view start) {
  // If a log was copied and cut while its server wrote to it, it begins with zeros, up to the server's position in it.
  start = ascii::trimmed_front(ascii::without_byte_order_mark(start), std::string_view("\0\r\n", 3));
  if (start.starts_with("From ")) return SourceKind::mbox;
  if (start.starts_with("-- ")) return SourceKind::log;  // the first line of journalctl's output
  if (is_message(start)) return SourceKind::message;
  bool may_name_columns = true;
  for (int count = 0; count < kMostLines && !start.empty(); ++count) {
    const std::string_view line = take_text_line(start);
    if (ascii::equal_ignoring_case(line, "BEGIN:VCARD")) return SourceKind::vcard;
    if (is_log_line(line)) return SourceKind::log;
    if (may_name_columns && CsvColumns::find(line)) return SourceKind::csv;
    may_name_columns = CsvColumns::may_come_behind(line);
  }
  return std::nullopt;
}

}  // namespace bloomgate
