#include "filter/cli/harvest/source_reader.hpp"

#include <algorithm>

#include "filter/base/ascii.hpp"
#include "filter/cli/harvest/csv_contacts.hpp"
#include "filter/cli/harvest/log_line.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// RFC 5322 section 2.2: a name of visible characters, and a colon.
bool is_header_field(std::string_view line) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  return std::ranges::all_of(line.substr(0, colon), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::string_view take_line(std::string_view& text) noexcept {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<SourceKind> recognise_source(std::string_view start) {
  if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
  if (start.starts_with("From ")) return SourceKind::mbox;
  std::string_view line;
  while (line.empty() && !start.empty()) line = take_line(start);
  if (ascii::equal_ignoring_case(line, "BEGIN:VCARD")) return SourceKind::vcard;
  // journalctl begins with a line of its own.
  if (is_log_line(line) || line.starts_with("-- ")) return SourceKind::log;
  if (is_header_field(line)) return SourceKind::message;
  if (CsvColumns::find(line)) return SourceKind::csv;
  return std::nullopt;
}

}  // namespace bloomgate::cli
