// What a line of a list says, in each of the forms that lists come in. Asked by for_each_entry() (entries.hpp).
//
// A format is shared by all workers: read() may be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/cli/lists/blocks.hpp"

namespace bloomgate::cli {

// Why a line is no entry: a stable token for logs and reject files, and a sentence for a person.
struct LineFault {
  std::string_view name;
  std::string_view text;
};

struct ListLine {
  Entry entry;
  LineFault fault = {};  // where the entry is rejected
};

class Format {
 public:
  virtual ~Format() = default;

  // Whether the format is one entry a line and nothing else, which has a faster way (plain_line.hpp).
  virtual bool is_text() const noexcept { return false; }
  // Whether a line end between double quotes is part of a line; then lists are read as streams.
  virtual bool quotes_line_ends() const noexcept { return false; }

  // To be called for every block before its lines are read; `name` is its list's. Throws BloomgateError{bad_input} for
  // a list that does not begin as the format asks.
  virtual void start_block(const Block& block, const std::string& name);

  // `line` is one of the block's, without its line end.
  virtual ListLine read(const Block& block, std::string_view line, AddressProfile profile) const = 0;
};

// The format of that name: "text", "csv:COLUMN" (a number from 1, or a name in each list's first line) or
// "postfix-map", for that many lists. Throws UsageError that names the option --format.
std::unique_ptr<Format> make_format(const std::string& name, std::size_t input_count);

// A line of a list in the format "text", for formats that have one inside theirs.
ListLine read_text_line(std::string_view line, AddressProfile profile);

// Past the end of the line at the start of `text`, or npos where it does not end in there. Where `quotes` is true, a
// line end between double quotes is none; `in_quotes` tells whether `text` starts between them, and then whether it
// ends so.
std::size_t find_line_end(std::string_view text, bool quotes, bool& in_quotes) noexcept;

// Calls `visit(line, number, text)` for each line of the block, counted from 1. Gives the number of lines.
std::uint64_t for_each_line(const Block& block, const Format& format, AddressProfile profile,
                            const std::function<void(const ListLine&, std::uint64_t, std::string_view)>& visit);

}  // namespace bloomgate::cli
