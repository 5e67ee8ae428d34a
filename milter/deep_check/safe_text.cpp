#include "milter/deep_check/safe_text.hpp"

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxSymbolBytes = 100;

bool is_symbol_character(char character) {
  return ascii::is_letter_or_digit(character) || character == '_' || character == '.' || character == ':' ||
         character == '-';
}

template <typename Keeps>
std::string replaced(std::string_view text, std::size_t max_bytes, const Keeps& keeps) {
  std::string out(text.substr(0, max_bytes));
  for (char& character : out) {
    if (!keeps(character)) character = '?';
  }
  return out;
}

bool contains(std::string_view characters, char character) {
  return characters.find(character) != std::string_view::npos;
}

}  // namespace

std::string ascii_text(std::string_view text, std::size_t max_bytes, std::string_view forbidden) {
  return replaced(text, max_bytes, [forbidden](char character) {
    return ascii::is_ascii(character) && !ascii::is_control(character) && !contains(forbidden, character);
  });
}

std::string utf8_text(std::string_view text, std::size_t max_bytes, std::string_view forbidden) {
  return replaced(text, max_bytes, [forbidden](char character) {
    return !ascii::is_control(character) && !contains(forbidden, character);
  });
}

std::string symbol_name(std::string_view text) {
  return replaced(text, kMaxSymbolBytes, is_symbol_character);
}

std::string_view known_host_name(std::string_view name) noexcept {
  return name == "unknown" || name.starts_with('[') ? std::string_view() : name;
}

}  // namespace bloomgate
