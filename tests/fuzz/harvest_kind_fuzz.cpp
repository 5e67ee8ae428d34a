// What a source is, by its first lines: for any text the answer has its ground in a line of that text, and what may
// stand before a source changes nothing.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "filter/base/ascii.hpp"
#include "filter/contacts/address_book.hpp"
#include "filter/contacts/source_reader.hpp"
#include "filter/log/log_line.hpp"
#include "filter/mail/mail_header.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace bloomgate;
using bloomgate::test::require;

bool has_line(std::string_view text, auto is_it) {
  while (!text.empty()) {
    if (is_it(take_text_line(text))) return true;
  }
  return false;
}

bool is_table_row(std::string_view line) {
  const std::optional<CsvColumns> columns = CsvColumns::find(line);
  if (!columns) return false;
  require(!columns->contacts.empty(), "a table has a column of contacts", line);
  require(line.find('@') == std::string_view::npos, "a row with an address in it has no names of columns", line);
  return true;
}

// A stranger chooses texts of lines, and never what stands at their beginning.
bool has_ground(SourceKind kind, std::string_view text) {
  switch (kind) {
    case SourceKind::log:
      return text.find("-- ") != std::string_view::npos || has_line(text, is_log_line);
    case SourceKind::vcard:
      return has_line(text, [](std::string_view line) {
        return ascii::find_ignoring_case(line, "begin:vcard") != std::string_view::npos;
      });
    case SourceKind::csv:
      return has_line(text, is_table_row);
    case SourceKind::mbox:
      return text.find("From ") != std::string_view::npos;
    case SourceKind::message:
      return text.find(':') != std::string_view::npos;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::optional<SourceKind> kind = recognise_source(text);
  std::string_view lines = text;
  if (lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
  lines = ascii::trimmed_front(lines, std::string_view("\0\r\n", 3));
  if (kind) require(has_ground(*kind, lines), "a line of the text shows its kind", text);
  if (text.starts_with(kByteOrderMark)) return 0;
  require(recognise_source(std::string(kByteOrderMark) + text) == kind, "a byte order mark changes nothing", text);
  require(recognise_source(std::string(8192, '\0') + text) == kind, "zeros before it change nothing", text);
  require(recognise_source("\r\n\n" + text) == kind, "empty lines before it change nothing", text);
  // No line of a list of addresses makes it another source.
  std::string addresses;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_text_line(rest);
    const bool is_plain = !line.empty() && ascii::is_letter_or_digit(line.front()) && !line.starts_with("From ");
    if (is_plain && line.find(':') == std::string_view::npos && line.find('@') != std::string_view::npos)
      addresses.append(line).append(1, '\n');
  }
  require(!recognise_source(addresses), "lines with addresses are no source", addresses);
  return 0;
}
