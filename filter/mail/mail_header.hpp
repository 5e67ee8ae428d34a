// The header of a message as text: where a field ends, and what its name and its value are. If a value must be
// unfolded, filter/address/structured_text.hpp does that. Safe from any thread.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct FieldParts {
  std::string_view name;   // without white space at its end; the whole field if it has no colon
  std::string_view value;  // everything after the colon, with its line ends
};
FieldParts split_field(std::string_view field) noexcept;

// Whether the line starts a field: a name of visible ASCII, at most followed by white space (RFC 5322 section 4.5), and
// a colon.
bool starts_field(std::string_view line) noexcept;

// Whether the line belongs to the field before it.
constexpr bool is_folded_line(std::string_view line) noexcept {
  return line.starts_with(' ') || line.starts_with('\t');
}

// Removes the first line from the text, and returns it without its end: LF or CR LF. A CR alone does not end a line.
std::string_view take_text_line(std::string_view& text) noexcept;

// Removes the first field, with its folded lines, from the header, and returns it without its last line end (LF or CR
// LF).
std::string_view take_field(std::string_view& header) noexcept;

// A line of a header: the start of a field, or a continuation of the field before. Name and value have no blanks around
// them.
struct HeaderLine {
  std::string_view name;  // empty if the line does not start a field
  std::string_view value;
  bool goes_on = false;
};
HeaderLine split_header_line(std::string_view line) noexcept;

// A field as a mail server passes it to a milter.
struct HeaderField {
  std::string name;   // as before the colon, with any space at its end
  std::string value;  // with the space after the colon; "\n" separates folded lines

  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

inline constexpr std::size_t kMaxMessageHeaderBytes = std::size_t{4} << 20;

// The fields up to the blank line at the header's end, or up to a line that is not a field; lines may end in CR LF. A
// first line of a mailbox file ("From joe@example.org Sat Nov 21 …") is skipped. Reads at most kMaxMessageHeaderBytes
// of the stream; `body`, if given, gets the part of these bytes that follows the header. Throws std::bad_alloc.
std::vector<HeaderField> read_message_header(std::istream& stream, std::string* body = nullptr);

}  // namespace bloomgate
