#include "filter/mail/utf16_text.hpp"

#include <cstddef>
#include <cstdint>

namespace bloomgate {
namespace {

constexpr std::string_view kLittleEndianMark = "\xff\xfe";
constexpr std::string_view kBigEndianMark = "\xfe\xff";
constexpr char32_t kReplacement = 0xfffd;

void append_utf8(std::string& text, char32_t character) {
  const auto append = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto append_low = [&](unsigned shift) { append(0x80 | ((character >> shift) & 0x3f)); };
  if (character < 0x80) return append(character);
  if (character < 0x800) {
    append(0xc0 | (character >> 6));
  } else if (character < 0x10000) {
    append(0xe0 | (character >> 12));
    append_low(6);
  } else {
    append(0xf0 | (character >> 18));
    append_low(12);
    append_low(6);
  }
  append_low(0);
}

}  // namespace

bool is_utf16(std::string_view start) noexcept {
  return start.starts_with(kLittleEndianMark) || start.starts_with(kBigEndianMark);
}

std::string utf8_of_utf16(std::string_view bytes) {
  const bool is_big = bytes.starts_with(kBigEndianMark);
  const auto unit_at = [&](std::size_t at) -> char32_t {
    if (at + 1 >= bytes.size()) return kReplacement;
    const char32_t first = static_cast<unsigned char>(bytes[at]);
    const char32_t second = static_cast<unsigned char>(bytes[at + 1]);
    return is_big ? first << 8 | second : second << 8 | first;
  };
  const auto is_half = [](char32_t unit, char32_t first) { return unit >= first && unit < first + 0x400; };
  std::string text;
  text.reserve(bytes.size() / 2);
  for (std::size_t at = kBigEndianMark.size(); at < bytes.size(); at += 2) {
    char32_t unit = unit_at(at);
    if (is_half(unit, 0xd800) && is_half(unit_at(at + 2), 0xdc00)) {
      unit = 0x10000 + ((unit - 0xd800) << 10) + (unit_at(at + 2) - 0xdc00);
      at += 2;
    } else if (unit >= 0xd800 && unit < 0xe000) {
      unit = kReplacement;
    }
    append_utf8(text, unit);
  }
  return text;
}

}  // namespace bloomgate
