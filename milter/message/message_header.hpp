// Reads the header of a message from a stream, as the fields that a mail server gives to a milter. Used by --explain.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace bloomgate {

struct HeaderField {
  std::string name;   // as it is before the colon, with space at its end
  std::string value;  // with the space behind the colon; "\n" separates folded lines

  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

inline constexpr std::size_t kMaxMessageHeaderBytes = std::size_t{4} << 20;

// The fields up to the blank line at the header's end, or up to a line that is not a field; lines may end in CR LF. A
// first line of mailbox files ("From joe@example.org Sat Nov 21 …") is left out. Reads no more than
// kMaxMessageHeaderBytes of the stream; `body`, if given, gets what follows the header in these. Throws std::bad_alloc.
std::vector<HeaderField> read_message_header(std::istream& stream, std::string* body = nullptr);

}  // namespace bloomgate
