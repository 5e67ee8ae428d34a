#include "filter/ingest/csv_format.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "filter/address/entry_forms.hpp"
#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate {
namespace {

const LineFault kBadQuotes = {"csv-bad-quotes", "the quotes in the row do not follow RFC 4180"};
const LineFault kMissingField = {"csv-missing-field", "the row ends before the column"};

// Removes a field in quotes from the start of `rest`, which then starts after the closing quote.
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

// Whether the field can be the name of a column, and so is not an entry.
bool may_be_name(std::string_view field) noexcept {
  return field.find('@') == std::string_view::npos && !field.starts_with(kMailingListPrefix);
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

char csv_separator_of(std::string_view row) {
  std::pair<std::size_t, char> most = {0, ','};
  for (const char separator : {',', ';', '\t'}) {
    const auto fields = split_csv_row(row, separator);
    if (fields && fields->size() > most.first) most = {fields->size(), separator};
  }
  return most.second;
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
  for (const Column& column : columns_) has_names_ = has_names_ || !column.name.empty();
}

std::size_t CsvFormat::find_name(const std::string& name, const std::vector<std::string>& fields,
                                 const std::string& list) const {
  const auto found = std::ranges::find(fields, name);
  if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
  std::string names;
  for (const std::string& field : fields) names += (names.empty() ? "'" : ", '") + field + "'";
  throw BloomgateError(
      ErrorCode::bad_input,
      list + " has no column '" + name + "': its first line has " + names + "; name one of these, or give a number",
      {.path = list});
}

CsvFormat::Found CsvFormat::find_columns(std::string_view first_row, const std::string& list) const {
  first_row = ascii::without_byte_order_mark(first_row);
  Found found = {.separator = csv_separator_of(first_row), .has_names = has_names_};
  const auto fields = split_csv_row(first_row, found.separator);
  if (!fields && has_names_) {
    throw BloomgateError(ErrorCode::bad_input, list + ":1: " + kBadQuotes.text, {.path = list});
  }
  for (const Column& column : columns_) {
    found.numbers.push_back(column.name.empty() ? column.number : find_name(column.name, *fields, list));
  }
  if (!has_names_ && fields) {
    found.has_names = std::ranges::all_of(
        found.numbers, [&](std::size_t number) { return number < fields->size() && may_be_name((*fields)[number]); });
  }
  return found;
}

void CsvFormat::begin_block(const Block& block, const std::string& name) {
  Input& input = inputs_[block.input];
  if (!block.starts_list()) {
    input.columns.wait();
    return;
  }
  Found found;
  try {
    bool in_quotes = false;
    // An empty list has neither a first line nor others.
    if (!block.text.empty())
      found = find_columns(block.text.substr(0, find_line_end(block.text, true, in_quotes)), name);
  } catch (...) {
    input.found.set_exception(std::current_exception());
    throw;
  }
  input.found.set_value(std::move(found));
}

ListLine CsvFormat::read(const Block& block, std::string_view line, AddressProfile profile) const {
  const Found& found = inputs_[block.input].columns.get();
  const bool is_first = block.starts_list() && line.data() == block.text.data();
  if ((found.has_names && is_first) || line.empty() || line == "\r") return read_text_line({}, profile);
  if (is_first) line = ascii::without_byte_order_mark(line);
  const auto fields = split_csv_row(line, found.separator);
  if (!fields) return {.entry = {}, .fault = kBadQuotes};
  if (std::ranges::max(found.numbers) >= fields->size()) return {.entry = {}, .fault = kMissingField};
  if (found.numbers.size() == 1) return read_text_line((*fields)[found.numbers[0]], profile);
  return read_pair((*fields)[found.numbers[0]], (*fields)[found.numbers[1]], profile);
}

}  // namespace bloomgate
