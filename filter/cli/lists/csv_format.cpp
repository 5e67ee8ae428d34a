#include "filter/cli/lists/csv_format.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/cli/command_line.hpp"

namespace bloomgate::cli {
namespace {

constexpr LineFault kBadQuotes = {"csv-bad-quotes", "the quotes in the row do not follow RFC 4180"};
constexpr LineFault kMissingField = {"csv-missing-field", "the row ends before the column"};
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Takes a field in quotes off the start of `rest`, which then starts after the closing quote.
bool take_quoted(std::string_view& rest, std::string& field, char separator) {
  rest.remove_prefix(1);
  while (true) {
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) return false;
    field += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) return rest.empty() || rest.starts_with(separator);
    field += '"';
    rest.remove_prefix(1);
  }
}

bool take_bare(std::string_view& rest, std::string& field, char separator) {
  field = rest.substr(0, rest.find(separator));
  rest.remove_prefix(field.size());
  return field.find('"') == std::string::npos;
}

}  // namespace

std::optional<std::vector<std::string>> split_csv_row(std::string_view row, char separator) {
  if (row.ends_with('\n')) row.remove_suffix(1);
  if (row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::string> fields;
  while (true) {
    std::string& field = fields.emplace_back();
    if (!(row.starts_with('"') ? take_quoted : take_bare)(row, field, separator)) return std::nullopt;
    if (row.empty()) return fields;
    row.remove_prefix(1);
  }
}

CsvFormat::Column CsvFormat::column_of(const std::string& text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (text.empty()) throw UsageError("--format csv: takes a column, or one of senders and one of recipients");
  if (stopped != end || error != std::errc{}) return {.name = text};
  if (number == 0) throw UsageError("--format csv: counts columns from 1");
  return {.number = number - 1};
}

CsvFormat::CsvFormat(const std::string& columns, std::size_t input_count) : inputs_(input_count) {
  const std::size_t comma = columns.find(',');
  columns_.push_back(column_of(columns.substr(0, comma)));
  if (comma != std::string::npos) columns_.push_back(column_of(columns.substr(comma + 1)));
  if (columns_.back().name.find(',') != std::string::npos) {
    throw UsageError("--format csv: takes at most two columns; give the number of one whose name has a comma");
  }
  for (const Column& column : columns_) {
    has_names_ = has_names_ || !column.name.empty();
    numbers_.push_back(column.number);
  }
}

CsvFormat::Numbers CsvFormat::find_columns(std::string_view header, const std::string& list) const {
  if (header.starts_with(kByteOrderMark)) header.remove_prefix(kByteOrderMark.size());
  const auto fields = split_csv_row(header);
  if (!fields) {
    throw BloomgateError(ErrorCode::bad_input, list + ":1: " + std::string(kBadQuotes.text), {.path = list});
  }
  Numbers numbers;
  for (const Column& column : columns_) {
    const auto found = std::ranges::find(*fields, column.name);
    if (column.name.empty()) {
      numbers.push_back(column.number);
    } else if (found != fields->end()) {
      numbers.push_back(static_cast<std::size_t>(found - fields->begin()));
    } else {
      std::string names;
      for (const std::string& field : *fields) names += (names.empty() ? "'" : ", '") + field + "'";
      throw BloomgateError(ErrorCode::bad_input,
                           list + " has no column '" + column.name + "': its first line has " + names +
                               "; name one of these, or give a number",
                           {.path = list});
    }
  }
  return numbers;
}

void CsvFormat::start_block(const Block& block, const std::string& name) {
  if (!has_names_) return;
  Input& input = inputs_[block.input];
  if (block.index != 0) {
    input.columns.wait();
    return;
  }
  // An empty list has no first line, and none after it.
  Numbers numbers(columns_.size());
  try {
    bool in_quotes = false;
    if (!block.text.empty())
      numbers = find_columns(block.text.substr(0, find_line_end(block.text, true, in_quotes)), name);
  } catch (...) {
    input.found.set_exception(std::current_exception());
    throw;
  }
  input.found.set_value(std::move(numbers));
}

ListLine CsvFormat::read(const Block& block, std::string_view line, AddressProfile profile) const {
  const bool is_first = block.index == 0 && line.data() == block.text.data();
  if ((has_names_ && is_first) || line.empty() || line == "\r") return read_text_line({}, profile);
  if (is_first && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  const Numbers& numbers = has_names_ ? inputs_[block.input].columns.get() : numbers_;
  const auto fields = split_csv_row(line);
  if (!fields) return {.entry = {}, .fault = kBadQuotes};
  if (std::ranges::max(numbers) >= fields->size()) return {.entry = {}, .fault = kMissingField};
  if (numbers.size() == 1) return read_text_line((*fields)[numbers[0]], profile);
  return read_pair((*fields)[numbers[0]], (*fields)[numbers[1]], profile);
}

}  // namespace bloomgate::cli
