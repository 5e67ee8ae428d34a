#include "milter/fields/result_forgery.hpp"

#include <algorithm>
#include <cstddef>

#include "filter/address/characters.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

using characters::is_address_character;

// For address literals and odd names.
bool is_host_character(char byte) noexcept {
  return is_address_character(byte) || byte == '[' || byte == ']' || byte == ':';
}

// dkim-quoted-printable, RFC 6376 section 2.11. White space is not part of it, but not all readers remove it.
bool is_harmless_identity(std::string_view value) noexcept {
  for (std::size_t at = 0; at < value.size(); ++at) {
    char byte = value[at];
    if (byte == '=') {
      const int escaped = ascii::hex_byte(value.substr(at + 1));
      if (escaped < 0) return false;
      byte = static_cast<char>(escaped);
      at += 2;
    }
    if (!is_address_character(byte)) return false;
  }
  return true;
}

bool is_harmless_tag(char name, std::string_view value) noexcept {
  if (name == 'i') return is_harmless_identity(value);
  const bool copied = name == 'd' || name == 's';
  return !copied || std::ranges::all_of(value, is_address_character);
}

}  // namespace

bool helo_can_forge_results(std::string_view helo) noexcept {
  return !std::ranges::all_of(helo, is_host_character);
}

bool sender_can_forge_results(std::string_view path) noexcept {
  path = without_folding_space(path);
  if (path.starts_with('<') && path.ends_with('>')) path = path.substr(1, path.size() - 2);
  if (path.starts_with('"')) {
    const std::size_t end = path.find('"', 1);
    if (end == std::string_view::npos) return true;
    const auto is_harmless = [](char byte) { return byte == ' ' || (byte != '@' && is_address_character(byte)); };
    if (!std::ranges::all_of(path.substr(1, end - 1), is_harmless)) return true;
    path.remove_prefix(end + 1);
  }
  // A source route has a comma, and which part of it a milter copies is unknown.
  return !std::ranges::all_of(path, is_host_character);
}

bool signature_can_forge_results(std::string_view dkim_signature) noexcept {
  bool harmless = true;
  for_each_signature_tag(dkim_signature, [&harmless](char name, std::string_view value) {
    harmless = harmless && is_harmless_tag(name, value);
  });
  return !harmless;
}

bool from_can_forge_results(const HeaderFrom& from) noexcept {
  if (from.kind == HeaderFromKind::absent) return false;
  return from.kind != HeaderFromKind::one_mailbox || sender_can_forge_results(from.address);
}

}  // namespace bloomgate
