// What a byte of an address may be: the character classes of RFC 5321 and RFC 1035, for the parts of the canonicaliser
// and for the daemon's readers of header fields. Pure; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "filter/address/reject_reason.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate::characters {

// The white space that may surround a part of a line.
inline constexpr std::string_view kBlanks = " \t";

// Bits of a byte's class. kUpper has the value by which ASCII's cases differ, so that `byte | (class & kUpper)` is the
// lower-case byte, whatever the byte.
inline constexpr std::uint8_t kAtext = 0x01;   // RFC 5322 section 3.2.3
inline constexpr std::uint8_t kDomain = 0x02;  // letter, digit, hyphen and underscore
inline constexpr std::uint8_t kUpper = 0x20;

inline constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&classes](std::string_view bytes, unsigned bits) {
    for (const char byte : bytes) {
      std::uint8_t& entry = classes[static_cast<unsigned char>(byte)];
      entry = static_cast<std::uint8_t>(entry | bits);
    }
  };
  add("abcdefghijklmnopqrstuvwxyz0123456789", kAtext | kDomain);
  add("ABCDEFGHIJKLMNOPQRSTUVWXYZ", kAtext | kDomain | kUpper);
  add("!#$%&'*+/=?^`{|}~", kAtext);
  // A host name has no underscore, but names in the DNS do, and mail comes from them.
  add("-_", kAtext | kDomain);
  return classes;
}();

constexpr std::uint8_t class_of(char byte) noexcept {
  return kClasses[static_cast<unsigned char>(byte)];
}
constexpr bool is_atext(char byte) noexcept {
  return (class_of(byte) & kAtext) != 0;
}
constexpr bool is_domain_character(char byte) noexcept {
  return (class_of(byte) & kDomain) != 0;
}
// Allowed in a local part: RFC 6531 section 3.3.
constexpr bool may_stand_unquoted(char byte) noexcept {
  return is_atext(byte) || byte == '.' || !ascii::is_ascii(byte);
}
// Allowed in an address without quotes and address literals.
constexpr bool is_address_character(char byte) noexcept {
  return may_stand_unquoted(byte) || byte == '@';
}

// control_character, invalid_utf8 or none. Control characters are those of ASCII, U+0080 to U+009F, the line and
// paragraph separators, and the byte-order mark: everything that could end a line or is not a character. Linear, no
// allocation.
RejectReason check(std::string_view text) noexcept;

}  // namespace bloomgate::characters
