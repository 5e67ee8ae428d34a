// The line ends of mail: CR LF (RFC 5322 section 2.3). And those of lists, which come from any system. Pure; safe from
// any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

// Adds `bytes` to `text`, with a CR before each LF that has none. `last` is the byte before them, and then the last of
// them, so that a text may come in pieces. Throws std::bad_alloc.
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

// How many bytes the first line of a text takes, with its end: LF, CR LF, or CR alone.
constexpr std::size_t first_line_bytes(std::string_view text) noexcept {
  const std::size_t end = text.find_first_of("\r\n");
  if (end == std::string_view::npos) return text.size();
  return end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
}

// Takes that line off the front of `text`, and gives it without its end.
constexpr std::string_view take_line(std::string_view& text) noexcept {
  std::string_view line = text.substr(0, first_line_bytes(text));
  text.remove_prefix(line.size());
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace bloomgate
