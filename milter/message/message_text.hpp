// A message in the form that is sent to the deeper check: its header fields, a blank line, its body. It is in memory up
// to a limit, and beyond that in an unnamed temporary file, which disappears with the message or the process. If a
// message is too long, only its first bytes are kept. One object serves all messages of a connection, one after the
// other.
//
// Filled while the message arrives, then read any number of times. Used by one thread at a time. Legal order of calls:
//     (add_field* end_of_header add_body* read* (clear | take))*
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// The temporary file could not be created, written or read. The text is then incomplete: only clear() may follow.
// `what()` is a sentence for a person.
class MessageTextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class MessageText {
 public:
  struct Limits {
    std::uint64_t max_bytes;   // of a message
    std::size_t memory_bytes;  // the part of it that is kept in memory
    std::string folder;        // where the temporary file is
  };

  explicit MessageText(Limits limits);

  // Adds a header field: its value includes the space after the colon, and "\n" between its lines, which becomes CR LF.
  // Throws MessageTextError, std::bad_alloc.
  void add_field(std::string_view name, std::string_view value);

  // The blank line. Throws as add_field().
  void end_of_header();

  // The next bytes of the body, lines ended by CR LF. Throws as add_field().
  void add_body(std::string_view bytes);

  // The text is full: further bytes are dropped.
  bool is_full() const noexcept { return size_ >= limits_.max_bytes; }

  std::uint64_t size() const noexcept { return size_; }

  // Reads the bytes from `offset` on: as many as there are, at most into.size(). Returns their number, 0 at the end.
  // Throws MessageTextError.
  std::size_t read(std::uint64_t offset, std::span<char> into) const;

  // To be called when the message is over. Keeps some memory for the next one, and closes the file.
  void clear() noexcept;

  // Moves the text out, for a caller that outlives the message. Throws std::bad_alloc.
  MessageText take();

  // How much memory the text occupies; never more than Limits::memory_bytes.
  std::size_t memory_held() const noexcept { return memory_.capacity(); }

 private:
  void add(std::string_view bytes);
  void add_to_memory(std::string_view bytes);
  void add_to_file(std::string_view bytes);

  Limits limits_;
  std::vector<char> memory_;  // the first bytes
  FileDescriptor file_;       // those after them
  std::uint64_t size_ = 0;
};

}  // namespace bloomgate
