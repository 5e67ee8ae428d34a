#include "filter/ingest/format.hpp"

#include <algorithm>

#include "filter/base/line_ends.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/ingest/csv_format.hpp"
#include "filter/ingest/list_kind.hpp"
#include "filter/ingest/postfix_map_format.hpp"

namespace bloomgate {
namespace {

class TextFormat : public Format {
 public:
  bool is_text() const noexcept override { return true; }
  ListLine read(const Block&, std::string_view line, AddressProfile profile) const override {
    return read_text_line(line, profile);
  }
};

}  // namespace

void Format::start_block(const Block& block, const std::string& name) {
  if (block.index == 0) {
    require_list(block.text, is_text(), name);
    if (is_text()) {
      const std::string table = format_of_table(block.text);
      const std::lock_guard lock(mutex_);
      if (advice_.empty() && !table.empty()) advice_ = name + " looks like a table: try --format " + table;
    }
  }
  begin_block(block, name);
}

void Format::begin_block(const Block&, const std::string&) {}

namespace {

void explain(ListLine& result) {
  if (result.entry.kind() == EntryKind::rejected) {
    result.fault = {reject_reason_name(result.entry.reason()), reject_text(result.entry)};
  }
}

}  // namespace

ListLine read_text_line(std::string_view line, AddressProfile profile) {
  ListLine result = {.entry = canonicalize_list_line(line, profile)};
  explain(result);
  return result;
}

ListLine read_sender(std::string_view text, AddressProfile profile) {
  ListLine result = {.entry = canonicalize_line(text, profile)};
  explain(result);
  return result;
}

ListLine read_pair(std::string_view sender, std::string_view recipient, AddressProfile profile) {
  ListLine result = {.entry = canonicalize_pair(sender, recipient, profile)};
  explain(result);
  return result;
}

std::unique_ptr<Format> make_format(const std::string& name, std::size_t input_count) {
  constexpr std::string_view kCsv = "csv:";
  if (name == "text") return std::make_unique<TextFormat>();
  if (name == "postfix-map") return std::make_unique<PostfixMapFormat>();
  if (name.starts_with(kCsv) && name.size() > kCsv.size()) {
    return std::make_unique<CsvFormat>(name.substr(kCsv.size()), input_count);
  }
  throw UsageError(
      "--format takes text, postfix-map, csv: with a column's number or name, or csv: with those "
      "of the sender and of the recipient and a comma between them, not '" +
      name + "'");
}

std::size_t find_line_end(std::string_view text, bool quotes, bool& in_quotes) noexcept {
  std::size_t at = 0;
  while (true) {
    const std::size_t line_end = text.find('\n', at);
    const std::string_view piece = text.substr(at, line_end == std::string_view::npos ? line_end : line_end - at);
    // A quote inside a quoted field is doubled, so it is enough to count.
    if (quotes && std::ranges::count(piece, '"') % 2 != 0) in_quotes = !in_quotes;
    if (line_end == std::string_view::npos) return line_end;
    at = line_end + 1;
    if (!in_quotes) return at;
  }
}

std::uint64_t for_each_line(const Block& block, const Format& format, AddressProfile profile,
                            const std::function<void(const ListLine&, std::uint64_t, std::string_view)>& visit) {
  std::string_view rest = block.text;
  std::uint64_t lines = 0;
  while (!rest.empty()) {
    bool in_quotes = false;
    const std::size_t end = std::min(find_line_end(rest, format.quotes_line_ends(), in_quotes), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (format.quotes_line_ends()) {
      visit(format.read(block, line, profile), lines + 1, line);
      lines += 1 + static_cast<std::uint64_t>(std::ranges::count(line, '\n'));
    } else {
      do {
        const std::string_view part = take_line(line);
        visit(format.read(block, part, profile), ++lines, part);
      } while (!line.empty());
    }
    rest.remove_prefix(end);
  }
  return lines;
}

}  // namespace bloomgate
