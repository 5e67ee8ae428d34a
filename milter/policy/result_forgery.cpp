#include "milter/policy/result_forgery.hpp"

#include <algorithm>
#include <cstddef>

#include "filter/characters.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kFoldingSpace = " \t\r\n";

bool is_address_character(char byte) noexcept {
  return characters::is_atext(byte) || !characters::is_ascii(byte) || byte == '.' || byte == '@';
}
// Of address literals and of odd names.
bool is_host_character(char byte) noexcept {
  return is_address_character(byte) || byte == '[' || byte == ']' || byte == ':';
}

int hexadecimal(char byte) noexcept {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const char lower = characters::to_lower(byte);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string_view trim(std::string_view text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(kFoldingSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kFoldingSpace) + 1);
}

// dkim-quoted-printable, RFC 6376 section 2.11. White space is no part of it, but not all readers take it out.
bool is_harmless_identity(std::string_view value) noexcept {
  for (std::size_t at = 0; at < value.size(); ++at) {
    char byte = value[at];
    if (byte == '=') {
      const int high = at + 1 < value.size() ? hexadecimal(value[at + 1]) : -1;
      const int low = at + 2 < value.size() ? hexadecimal(value[at + 2]) : -1;
      if (high < 0 || low < 0) return false;
      byte = static_cast<char>(16 * high + low);
      at += 2;
    }
    if (!is_address_character(byte)) return false;
  }
  return true;
}

bool is_harmless_tag(std::string_view tag) noexcept {
  const std::size_t equals = tag.find('=');
  const std::string_view name = trim(tag.substr(0, equals));
  const std::string_view value = equals == std::string_view::npos ? std::string_view{} : trim(tag.substr(equals + 1));
  if (name == "i" || name == "I") return is_harmless_identity(value);
  const bool copied = name == "d" || name == "D" || name == "s" || name == "S";
  return !copied || std::ranges::all_of(value, is_address_character);
}

}  // namespace

bool helo_can_forge_results(std::string_view helo) noexcept {
  return !std::ranges::all_of(helo, is_host_character);
}

bool sender_can_forge_results(std::string_view path) noexcept {
  path = trim(path);
  if (path.starts_with('<') && path.ends_with('>')) path = path.substr(1, path.size() - 2);
  if (path.starts_with('"')) {
    const std::size_t end = path.find('"', 1);
    if (end == std::string_view::npos) return true;
    const auto is_harmless = [](char byte) { return byte == ' ' || (byte != '@' && is_address_character(byte)); };
    if (!std::ranges::all_of(path.substr(1, end - 1), is_harmless)) return true;
    path.remove_prefix(end + 1);
  }
  // Of a source route, which has a comma, nobody knows what is copied.
  return !std::ranges::all_of(path, is_host_character);
}

bool signature_can_forge_results(std::string_view dkim_signature) noexcept {
  while (!dkim_signature.empty()) {
    const std::size_t end = std::min(dkim_signature.find(';'), dkim_signature.size());
    if (!is_harmless_tag(dkim_signature.substr(0, end))) return true;
    dkim_signature.remove_prefix(std::min(end + 1, dkim_signature.size()));
  }
  return false;
}

bool from_can_forge_results(const HeaderFrom& from) noexcept {
  if (from.kind == HeaderFromKind::absent) return false;
  return from.kind != HeaderFromKind::one_mailbox || sender_can_forge_results(from.address);
}

}  // namespace bloomgate
