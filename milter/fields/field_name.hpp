// The names of header fields. Pure; safe from any thread.
#pragma once

#include <string_view>

namespace bloomgate {

// Of the field with the decision.
inline constexpr std::string_view kHeaderName = "X-Bloomgate";

// Whether a field of that name is `wanted`, or is read as it: in any case, and with space before its colon, which
// obsolete syntax allows (RFC 5322 section 4.5) and some readers accept.
bool is_header(std::string_view name, std::string_view wanted) noexcept;

// Whether a field of that name is ours, or pretends to be.
bool is_our_header(std::string_view name) noexcept;

}  // namespace bloomgate
