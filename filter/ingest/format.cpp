#include "filter/ingest/format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/line_ends.hpp"
#include "filter/base/nearest_word.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/ingest/csv_format.hpp"
#include "filter/ingest/postfix_map_format.hpp"
#include "filter/store/store_format.hpp"

namespace bloomgate {
namespace {

using std::string_view_literals::operator""sv;

struct Kind {
  std::string_view mark;
  std::string_view what;
  std::string_view remedy;
  std::size_t at = 0;
};

constexpr std::string_view kUnpack = "unpack it, and name the list in it";
constexpr std::string_view kDecompress = "decompress it first; gzip, zstd, xz and bzip2 are read as they are";
constexpr std::string_view kExport = "save the sheet as CSV, and give --format csv:COLUMN";

// The marks of binary files, in any format. PRONOM and file(1) have the same marks.
constexpr std::array kBinary = {
    Kind{"ustar"sv, "a tar archive", kUnpack, 257},
    Kind{"PK\x03\x04"sv, "a ZIP archive, as spreadsheets (.xlsx, .ods) are", "unpack it, or save the sheet as CSV"},
    Kind{"PK\x05\x06"sv, "an empty ZIP archive", kUnpack},
    Kind{"7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", kUnpack},
    Kind{"Rar!\x1a\x07"sv, "a RAR archive", kUnpack},
    Kind{"!<arch>\n"sv, "an archive", kUnpack},
    Kind{"\x04\x22\x4d\x18"sv, "compressed by lz4", kDecompress},
    Kind{"\x1f\x9d"sv, "compressed by compress", kDecompress},
    Kind{"LZIP"sv, "compressed by lzip", kDecompress},
    Kind{"SQLite format 3\0"sv, "an SQLite database",
         "write its column of addresses to a list: sqlite3 FILE 'select ...'"},
    Kind{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "a document of an office program", kExport},
    Kind{"%PDF-"sv, "a PDF document", "get the list as text"},
    Kind{"\x7f"
         "ELF"sv,
         "a program", "name a list"},
    Kind{"\xff\xfe\0\0"sv, "text in UTF-32", "convert it: iconv -f UTF-32 -t UTF-8"},
    Kind{"\xff\xfe"sv, "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8"},
    Kind{"\xfe\xff"sv, "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8"},
    Kind{"\0\0\xfe\xff"sv, "text in UTF-32", "convert it: iconv -f UTF-32 -t UTF-8"},
};

constexpr std::string_view kWebPage = "get the list itself; perhaps its address has changed, or asks for a login";

// Words with which a text may begin, in any case, after white space and a byte-order mark.
constexpr std::array kMarkup = {
    Kind{"<!doctype"sv, "a web page", kWebPage},
    Kind{"<html"sv, "a web page", kWebPage},
    Kind{"<head"sv, "a web page", kWebPage},
    Kind{"<body"sv, "a web page", kWebPage},
    Kind{"<!--"sv, "a web page", kWebPage},
    Kind{"<?xml"sv, "an XML document", "write its addresses to a list, one on each line"},
};
constexpr std::string_view kHarvest = "'bloomgate harvest' makes a list of it";
constexpr std::string_view kJson = "write its addresses to a list, one on each line, as with: jq -r";
constexpr std::array kNoneOnItsLine = {
    Kind{"["sv, "a JSON document", kJson},    Kind{"{\""sv, "a JSON document", kJson},
    Kind{"{ "sv, "a JSON document", kJson},   Kind{"{\n"sv, "a JSON document", kJson},
    Kind{"{\r"sv, "a JSON document", kJson},  Kind{"begin:vcard"sv, "an address book", kHarvest},
    Kind{"from "sv, "mail", kHarvest},        Kind{"received:"sv, "mail", kHarvest},
    Kind{"return-path:"sv, "mail", kHarvest}, Kind{"delivered-to:"sv, "mail", kHarvest},
};

bool begins_with(std::string_view start, const Magic& magic) noexcept {
  return start.size() >= magic.size() && std::memcmp(start.data(), magic.data(), magic.size()) == 0;
}

// Whether most of these bytes are there: no text has them.
bool nearly_begins_with(std::string_view start, const Magic& magic) noexcept {
  constexpr std::size_t kLeast = 4;
  const std::size_t bytes = std::min(start.size(), magic.size());
  std::size_t equal = 0;
  for (std::size_t at = 0; at < bytes; ++at) equal += static_cast<unsigned char>(start[at]) == magic[at] ? 1U : 0U;
  return bytes >= kLeast && (equal == bytes || equal + 2 >= magic.size());
}

std::optional<Kind> kind_of(std::string_view start, bool is_text) {
  if (begins_with(start, kFilterMagic)) {
    return Kind{{}, "a filter", "name the lists that it was built from; 'bloomgate merge' unites filters"};
  }
  if (begins_with(start, kStoreMagic)) {
    return Kind{{}, "a store", "'bloomgate build' and 'update-store' take a store by the path of its file"};
  }
  if (nearly_begins_with(start, kFilterMagic) || nearly_begins_with(start, kStoreMagic)) {
    return Kind{{}, "a damaged filter or store", "restore the file, or make it again"};
  }
  const auto begins = [&](const Kind& kind) {
    return start.substr(std::min(kind.at, start.size())).starts_with(kind.mark);
  };
  if (const auto found = std::ranges::find_if(kBinary, begins); found != kBinary.end()) return *found;
  // Without a byte-order mark: each of the first two characters has one zero byte.
  if (start.size() >= 4 && (start[0] == '\0') != (start[1] == '\0') && (start[0] == '\0') == (start[2] == '\0') &&
      (start[1] == '\0') == (start[3] == '\0')) {
    return Kind{{},
                "text in UTF-16",
                start[0] == '\0' ? "convert it: iconv -f UTF-16BE -t UTF-8" : "convert it: iconv -f UTF-16LE -t UTF-8"};
  }
  start = ascii::trimmed_front(ascii::without_byte_order_mark(start), " \t\r\n");
  const auto begins_in_any_case = [&](const Kind& kind) {
    return ascii::equal_ignoring_case(start.substr(0, kind.mark.size()), kind.mark);
  };
  if (const auto found = std::ranges::find_if(kMarkup, begins_in_any_case); found != kMarkup.end()) return *found;
  if (!is_text) return std::nullopt;
  const auto found = std::ranges::find_if(kNoneOnItsLine, begins_in_any_case);
  return found == kNoneOnItsLine.end() ? std::nullopt : std::optional(*found);
}

std::string quoted_for_shell(const std::string& word) {
  const bool is_plain = std::ranges::all_of(
      word, [](char c) { return ascii::is_letter_or_digit(c) || c == ':' || c == '_' || c == '-' || c == '.'; });
  return is_plain ? word : "'" + word + "'";
}

// A line of a Postfix access map: a key, and what Postfix does.
bool is_map_line(std::string_view line) {
  constexpr std::array<std::string_view, 6> kActions = {"OK", "PERMIT", "DUNNO", "RELAY", "REJECT", "DISCARD"};
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t key_end = line.find_first_of(kSpace);
  const std::size_t value = key_end == 0 ? std::string_view::npos : line.find_first_not_of(kSpace, key_end);
  if (value == std::string_view::npos) return false;
  line.remove_prefix(value);
  return std::ranges::find(kActions, line.substr(0, line.find_first_of(kSpace))) != kActions.end();
}

// What a list that begins so may be instead, and what to do: "looks like a table: try --format csv:email", with the
// first column that has an address in one of the first rows, in quotes if a shell needs them. Empty if it is neither a
// table with such a column, nor a map of Postfix, nor has several addresses in a line.
std::string advice_on(std::string_view start) {
  constexpr std::size_t kRows = 20;
  constexpr std::string_view kNeedsCare = ",'\"\\";
  std::optional<std::vector<std::string>> names;
  char separator = ',';
  for (std::size_t row = 0; row < kRows && !start.empty(); ++row) {
    const std::string_view line = take_line(start);
    if (row == 0) separator = csv_separator_of(line);
    const auto fields = split_csv_row(line, separator);
    if (row == 0) names = fields;
    if (is_map_line(line)) return " looks like a map of Postfix: try --format postfix-map";
    if (!fields || fields->size() < 2) continue;
    const auto is_address = [](const std::string& field) {
      return read_text_line(field, {}).entry.kind() == EntryKind::address;
    };
    const auto found = std::ranges::find_if(*fields, is_address);
    if (found == fields->end()) continue;
    if (std::ranges::all_of(*fields, is_address)) {
      return " has several addresses in a line: put each on a line of its own";
    }
    const auto number = static_cast<std::size_t>(found - fields->begin());
    const bool has_name = row != 0 && names && names->size() == fields->size() && !(*names)[number].empty() &&
                          (*names)[number].find('@') == std::string::npos && ascii::is_printable((*names)[number]) &&
                          (*names)[number].find_first_of(kNeedsCare) == std::string::npos;
    return " looks like a table: try --format " +
           quoted_for_shell("csv:" + (has_name ? (*names)[number] : std::to_string(number + 1)));
  }
  return {};
}

class TextFormat : public Format {
 public:
  bool is_text() const noexcept override { return true; }
  ListLine read(const Block&, std::string_view line, AddressProfile profile) const override {
    return read_text_line(line, profile);
  }
};

// Whether there is an '@' on both sides of a '>'.
bool looks_like_pair(std::string_view line) noexcept {
  const std::size_t sign = line.find('>', std::min(line.find('@'), line.size()));
  return sign != std::string_view::npos && line.find('@', sign) != std::string_view::npos;
}

void explain(ListLine& result) {
  if (result.entry.kind() == EntryKind::rejected) {
    result.fault = {reject_reason_name(result.entry.reason()), reject_text(result.entry)};
  }
}

}  // namespace

void require_list(std::string_view start, bool is_text, std::string_view list) {
  const std::optional<Kind> kind = kind_of(start, is_text);
  if (!kind) return;
  throw BloomgateError(
      ErrorCode::bad_input,
      std::string(list) + " is no list, but " + std::string(kind->what) + "; " + std::string(kind->remedy),
      {.path = std::string(list)});
}

void Format::start_block(const Block& block, const std::string& name) {
  if (block.starts_list()) {
    require_list(block.text, is_text(), name);
    if (is_text()) {
      const std::string advice = advice_on(block.text);
      const std::lock_guard lock(mutex_);
      if (advice_.empty() && !advice.empty()) advice_ = name + advice;
    }
  }
  begin_block(block, name);
}

void Format::begin_block(const Block&, const std::string&) {}

ListLine read_text_line(std::string_view line, AddressProfile profile) {
  ListLine result = {.entry = canonicalize_list_line(line, profile)};
  explain(result);
  if (result.entry.kind() == EntryKind::rejected && result.entry.reason() == RejectReason::unbalanced_brackets &&
      looks_like_pair(line)) {
    result.fault.text += "; a pair has a space on both sides of its '>'";
  }
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
  constexpr std::array<std::string_view, 2> kNames = {"text", "postfix-map"};
  throw UsageError(
      "--format takes text, postfix-map, csv:COLUMN or csv:SENDER,RECIPIENT (numbers or names of columns), not '" +
      name + "'" + nearest_word_hint(name, kNames));
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
