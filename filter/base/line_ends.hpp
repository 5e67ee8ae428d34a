// The line ends of mail: CR LF (RFC 5322 section 2.3).
#pragma once

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

}  // namespace bloomgate
