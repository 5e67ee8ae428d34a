#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_escaped(std::string& out, std::string_view text, bool as_word) {
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool is_printable = byte >= ' ' && byte <= '~';
    if (is_printable && !(as_word && (byte == ' ' || byte == '\\'))) {
      out += character;
    } else {
      out += "\\x";
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 0xf];
    }
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_escaped(out, text, false);
  return out;
}

std::string printable_word(std::string_view text, std::size_t max_bytes) {
  const std::string_view shown = text.substr(0, max_bytes);
  std::string out;
  out.reserve(shown.size());
  append_escaped(out, shown, true);
  if (shown.size() < text.size()) out += "\\+" + std::to_string(text.size() - shown.size());
  return out;
}

}  // namespace bloomgate
