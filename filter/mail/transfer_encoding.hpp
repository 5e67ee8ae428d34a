// Decodes quoted-printable and base64 (RFC 2045 sections 6.7 and 6.8), for parts of a body, encoded words (RFC 2047)
// and vCards. It tolerates errors: use it to recognise text, never to prove anything. Pure; nothing here allocates.
// Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "filter/base/ascii.hpp"

namespace bloomgate {

// Calls `use(char)` for each byte. Blanks between `=` and a line end belong to the soft line end. Any other `=` without
// two hexadecimal digits stands for itself.
template <typename Use>
void decode_quoted_printable(std::string_view text, Use use) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int byte = text[at] == '=' ? ascii::hex_byte(text.substr(at + 1)) : -1;
    const std::size_t end = text[at] == '=' ? text.find_first_not_of(" \t\r", at + 1) : 0;
    if (byte >= 0) {
      use(static_cast<char>(byte));
      at += 2;
    } else if (text[at] == '=' && end < text.size() && text[end] == '\n') {
      at = end;
    } else {
      use(text[at]);
    }
  }
}

// The value of a letter of base64; -1 for any other byte.
constexpr int base64_value(char byte) noexcept {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A';
  if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
  if (byte >= '0' && byte <= '9') return byte - '0' + 52;
  if (byte == '+') return 62;
  return byte == '/' ? 63 : -1;
}

// Calls `use(char)` for each byte. Skips bytes that are not in the alphabet; padding ends a group of letters.
template <typename Use>
void decode_base64(std::string_view text, Use use) {
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char letter : text) {
    if (letter == '=') count = 0;
    const int value = base64_value(letter);
    if (value < 0) continue;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    use(static_cast<char>(bits >> count));
  }
}

}  // namespace bloomgate
