// Writes a dated and compressed list, which appears as a whole or not at all. For one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "filter/ingest/compressed_writer.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// A key of an address as a line of a list: in angle brackets if it starts like a comment.
std::string address_line(std::string_view key);
// The same for a pair: `joe@example.org > ann@ours.example`.
std::string pair_line(std::string_view contact, std::string_view user);

class DatedListWriter {
 public:
  // Makes the folder, unless it exists, but not its parents. The list will be `folder`/2026-11-20.txt.zst, or
  // 2026-11-20.2.txt.zst if there is already one of that day. It has no name until it is complete, so that nothing of
  // it stays if the program is killed. Throws BloomgateError{cannot_write}.
  DatedListWriter(std::string folder, Day day);
  ~DatedListWriter();
  DatedListWriter(const DatedListWriter&) = delete;
  DatedListWriter& operator=(const DatedListWriter&) = delete;

  // `line` has no line end. Throws BloomgateError{cannot_write}.
  void write(std::string_view line);

  // Puts the list on disk and gives it its name, which it returns. Only once. Throws BloomgateError{cannot_write}.
  std::string finish();

 private:
  std::string folder_;
  Day day_;
  FileDescriptor file_;
  std::string path_;  // of the file, if the file system does not support files without a name
  std::optional<CompressedWriter> text_;
};

}  // namespace bloomgate
