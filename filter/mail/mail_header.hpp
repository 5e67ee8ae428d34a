// The header of a message as text: where a field ends, and what its name and its value are. Its values are unfolded by
// filter/address/structured_text.hpp where that matters. Safe from any thread.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct FieldParts {
  std::string_view name;   // without white space behind it; all of a field that has no colon
  std::string_view value;  // all behind the colon, with its line ends
};
FieldParts split_field(std::string_view field) noexcept;

// Whether the line starts a field: a name of visible ASCII, at most followed by white space (RFC 5322 section 4.5), and
// a colon.
bool starts_field(std::string_view line) noexcept;

// Whether the line belongs to the field before it.
constexpr bool is_folded_line(std::string_view line) noexcept {
  return line.starts_with(' ') || line.starts_with('\t');
}

// Takes the first line off the text, and gives it without its end: LF or CR LF. A CR alone does not end a line.
std::string_view take_text_line(std::string_view& text) noexcept;

// Takes the first field off the text, with its folded lines, and gives it without its last line end (LF or CR LF).
std::string_view take_field(std::string_view& header) noexcept;

// A line of a header: the start of a field, or more of the field before. Neither has blanks around it.
struct HeaderLine {
  std::string_view name;  // empty if the line starts no field
  std::string_view value;
  bool goes_on = false;
};
HeaderLine split_header_line(std::string_view line) noexcept;

// A field as a mail server gives it to a milter.
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
