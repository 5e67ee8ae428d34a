// What a line of a list means, in each format of lists. Used by for_each_entry() (entries.hpp).
//
// All workers share a format: several threads may call read() at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/ingest/blocks.hpp"

namespace bloomgate {

// Why a line is not an entry: a stable token for logs and reject files, and a sentence for a person.
struct LineFault {
  std::string_view name;
  std::string text;
};

struct ListLine {
  Entry entry;
  LineFault fault = {};  // if the entry is rejected
};

// Recognises a file that is not a list, by its first bytes. Each of its lines would be rejected, and the filter would
// list no sender. The bytes may be hostile.
//
// Throws BloomgateError{bad_input}, which names `list` and says what to do, if that text begins like a filter, a store,
// an archive, a document of another program, UTF-16 or a web page. With `is_text` also if it begins like JSON, an
// address book or mail: these may have addresses, but none alone on its line.
void require_list(std::string_view start, bool is_text, std::string_view list);

class Format {
 public:
  virtual ~Format() = default;

  // Whether the format is just one entry per line, for which there is a faster path (plain_line.hpp).
  virtual bool is_text() const noexcept { return false; }
  // Whether a line end between double quotes is part of a line; then lists are read as streams.
  virtual bool quotes_line_ends() const noexcept { return false; }

  // Must be called for every block before its lines are read; `name` is that of its list. Throws
  // BloomgateError{bad_input} if the list begins as another kind of file, or not as the format requires.
  void start_block(const Block& block, const std::string& name);

  // `line` is a line of the block, without its line end.
  virtual ListLine read(const Block& block, std::string_view line, AddressProfile profile) const = 0;

  // What to do if many lines of the lists are not entries: the other format that one of the lists looks like. Empty if
  // they look like no other. Call it after all blocks.
  const std::string& advice() const noexcept { return advice_; }

 private:
  virtual void begin_block(const Block& block, const std::string& name);

  std::mutex mutex_;
  std::string advice_;
};

// The format of that name: "text", "csv:COLUMN" (a number from 1, or a name in each list's first line),
// "csv:SENDER,RECIPIENT" (two such columns, for pairs) or "postfix-map", for that many lists. Throws UsageError that
// names the option --format.
std::unique_ptr<Format> make_format(const std::string& name, std::size_t input_count);

// Reads a line of the format "text", with any entry, for formats that contain such lines.
ListLine read_text_line(std::string_view line, AddressProfile profile);

// Reads the entry of an address or a domain, and rejects any other: for formats without mailing lists and signers.
ListLine read_sender(std::string_view text, AddressProfile profile);

// Reads a pair whose sides are such lines. The sender may be a mailing list, too.
ListLine read_pair(std::string_view sender, std::string_view recipient, AddressProfile profile);

// The position after the line at the start of `text`, or npos if the line does not end there. If `quotes` is true, a
// line end between double quotes does not count. `in_quotes` says whether `text` starts between quotes, and afterwards
// whether it ends between them.
std::size_t find_line_end(std::string_view text, bool quotes, bool& in_quotes) noexcept;

// Calls `visit(line, number, text)` for each line of the block, counted from 1. Returns the number of lines.
std::uint64_t for_each_line(const Block& block, const Format& format, AddressProfile profile,
                            const std::function<void(const ListLine&, std::uint64_t, std::string_view)>& visit);

}  // namespace bloomgate
