// The names of header fields. Pure; safe from any thread.
#pragma once

#include <string_view>

#include "filter/base/ascii.hpp"

namespace bloomgate {

// The name of the field with the decision.
inline constexpr std::string_view kHeaderName = "X-Bloomgate";

// Whether some reader takes a field of that name for `wanted`. The case is ignored. White space before the colon is,
// too: obsolete syntax allows it (RFC 5322 section 4.5), and some readers accept it.
inline bool is_header(std::string_view name, std::string_view wanted) noexcept {
  if (name.size() < wanted.size() || !ascii::equal_ignoring_case(name.substr(0, wanted.size()), wanted)) return false;
  return name.find_first_not_of(" \t", wanted.size()) == std::string_view::npos;
}

// Whether a field of that name is ours, or pretends to be.
inline bool is_our_header(std::string_view name) noexcept {
  return is_header(name, kHeaderName);
}

}  // namespace bloomgate
