#include "filter/address/characters.hpp"

#include <unistr.h>

#include "filter/base/ascii.hpp"

namespace bloomgate::characters {
namespace {

// `text` is valid UTF-8 with a multi-byte sequence at its front.
bool starts_with_control(std::string_view text) noexcept {
  if (text[0] == '\xc2') return static_cast<unsigned char>(text[1]) < 0xa0;  // U+0080 to U+009F
  return text.starts_with("\u2028") || text.starts_with("\u2029") || text.starts_with("\ufeff");
}

}  // namespace

RejectReason check(std::string_view text) noexcept {
  if (ascii::is_printable(text)) return RejectReason::none;
  if (ascii::has_control(text, [](char) { return true; })) return RejectReason::control_character;
  if (u8_check(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()) != nullptr) {
    return RejectReason::invalid_utf8;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!ascii::is_ascii(text[at]) && starts_with_control(text.substr(at))) return RejectReason::control_character;
  }
  return RejectReason::none;
}

}  // namespace bloomgate::characters
