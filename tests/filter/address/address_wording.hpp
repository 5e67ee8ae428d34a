// An entry in one word, for tables of what the canonicaliser should make of something.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "tests/support/repeated.hpp"

namespace bloomgate {

using test::repeated;

// The key; "blank"; "null sender"; or "rejected: " and the reason's name.
inline std::string wording(const Entry& entry) {
  if (entry.is_key()) return std::string(entry.key());
  if (entry.kind() == EntryKind::blank) return "blank";
  if (entry.kind() == EntryKind::null_sender) return "null sender";
  return "rejected: " + std::string(reject_reason_name(entry.reason()));
}

// A code point that is no surrogate, in UTF-8.
inline std::string utf8(std::uint32_t code_point) {
  const auto lead = [code_point](unsigned mark, unsigned shift) {
    return static_cast<char>(mark | code_point >> shift);
  };
  const auto tail = [code_point](unsigned shift) { return static_cast<char>(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {lead(0xc0, 6), tail(0)};
  if (code_point < 0x10000) return {lead(0xe0, 12), tail(6), tail(0)};
  return {lead(0xf0, 18), tail(12), tail(6), tail(0)};
}

// A domain of exactly that many bytes, of labels as long as they may be.
inline std::string domain_of(std::size_t bytes) {
  std::string result;
  while (bytes > kMaxLabelBytes + 2) {
    result += std::string(kMaxLabelBytes, 'd') + ".";
    bytes -= kMaxLabelBytes + 1;
  }
  if (bytes > kMaxLabelBytes) {
    result += "d.";
    bytes -= 2;
  }
  return result + std::string(bytes, 'd');
}

}  // namespace bloomgate
