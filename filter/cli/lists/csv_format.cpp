#include "filter/cli/lists/csv_format.hpp"

#include <algorithm>
#include <charconv>

#include "filter/base/error.hpp"
#include "filter/cli/command_line.hpp"

namespace bloomgate::cli {
namespace {

constexpr LineFault kBadQuotes = {"csv-bad-quotes", "the quotes in the row do not follow RFC 4180"};
constexpr LineFault kMissingField = {"csv-missing-field", "the row ends before the column"};
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Takes a field in quotes off the start of `rest`, which then starts after the closing quote.
bool take_quoted(std::string_view& rest, std::string& field) {
  rest.remove_prefix(1);
  while (true) {
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return false;
    field += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) return rest.empty() || rest.starts_with(',');
    field += '"';
    rest.remove_prefix(1);
  }
}

bool take_bare(std::string_view& rest, std::string& field) {
  field = rest.substr(0, rest.find(','));
  rest.remove_prefix(field.size());
  return field.find('"') == std::string::npos;
}

}  // namespace

std::optional<std::vector<std::string>> split_csv_row(std::string_view row) {
  if (row.ends_with('\n')) row.remove_suffix(1);
  if (row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::string> fields;
  while (true) {
    std::string& field = fields.emplace_back();
    if (!(row.starts_with('"') ? take_quoted(row, field) : take_bare(row, field))) return std::nullopt;
    if (row.empty()) return fields;
    row.remove_prefix(1);
  }
}

CsvFormat::CsvFormat(const std::string& column, std::size_t input_count) : inputs_(input_count) {
  std::size_t number = 0;
  const char* const end = column.data() + column.size();
  const auto [stopped, error] = std::from_chars(column.data(), end, number);
  if (stopped != end || error != std::errc{}) {
    name_ = column;
  } else if (number == 0) {
    throw UsageError("--format csv: counts columns from 1");
  } else {
    number_ = number - 1;
  }
}

std::size_t CsvFormat::find_column(std::string_view header, const std::string& list) const {
  if (header.starts_with(kByteOrderMark)) header.remove_prefix(kByteOrderMark.size());
  const auto fields = split_csv_row(header);
  if (!fields) {
    throw BloomgateError(ErrorCode::bad_input, list + ":1: " + std::string(kBadQuotes.text), {.path = list});
  }
  const auto found = std::ranges::find(*fields, name_);
  if (found != fields->end()) return static_cast<std::size_t>(found - fields->begin());
  std::string names;
  for (const std::string& field : *fields) names += (names.empty() ? "'" : ", '") + field + "'";
  throw BloomgateError(
      ErrorCode::bad_input,
      list + " has no column '" + name_ + "': its first line has " + names + "; name one of these, or give a number",
      {.path = list});
}

void CsvFormat::start_block(const Block& block, const std::string& name) {
  if (name_.empty()) return;
  Input& input = inputs_[block.input];
  if (block.index != 0) {
    input.column.wait();
    return;
  }
  // An empty list has no first line, and none after it.
  std::size_t column = 0;
  try {
    bool in_quotes = false;
    if (!block.text.empty())
      column = find_column(block.text.substr(0, find_line_end(block.text, true, in_quotes)), name);
  } catch (...) {
    input.found.set_exception(std::current_exception());
    throw;
  }
  input.found.set_value(column);
}

ListLine CsvFormat::read(const Block& block, std::string_view line, AddressProfile profile) const {
  const bool is_header = !name_.empty() && block.index == 0 && line.data() == block.text.data();
  if (is_header || line.empty() || line == "\r") return read_text_line({}, profile);
  if (name_.empty() && block.index == 0 && line.data() == block.text.data() && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  const std::size_t column = name_.empty() ? number_ : inputs_[block.input].column.get();
  const auto fields = split_csv_row(line);
  if (!fields) return {.entry = {}, .fault = kBadQuotes};
  if (column >= fields->size()) return {.entry = {}, .fault = kMissingField};
  return read_text_line((*fields)[column], profile);
}

}  // namespace bloomgate::cli
