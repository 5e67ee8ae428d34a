// The line ends of mail: CR LF (RFC 5322 section 2.3); and the line ends of lists, which come from any system. Pure;
// safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

// Adds `bytes` to `text`, with a CR before each LF that has none. A text may come in pieces: `last` is the byte before
// this piece, and afterwards the last byte of it. Throws std::bad_alloc.
inline void append_with_crlf(std::string& text, std::string_view bytes, char& last) {
  for (const char byte : bytes) {
    if (byte == '\n' && last != '\r') text += '\r';
    text += byte;
    last = byte;
  }
}

inline std::string with_crlf(std::string_view bytes, char& last) {
  std::string text;
  append_with_crlf(text, bytes, last);
  return text;
}

// The number of bytes of a text's first line, including its end: LF, CR LF, or CR alone.
constexpr std::size_t first_line_bytes(std::string_view text) noexcept {
  const std::size_t end = text.find_first_of("\r\n");
  if (end == std::string_view::npos) return text.size();
  return end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
}

// Removes that line from the front of `text`, and returns it without its end.
constexpr std::string_view take_line(std::string_view& text) noexcept {
  std::string_view line = text.substr(0, first_line_bytes(text));
  text.remove_prefix(line.size());
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace bloomgate
