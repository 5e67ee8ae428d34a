// Text in UTF-16, as Outlook and Windows save address books. Pure.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

// Whether the bytes begin with a byte order mark of UTF-16.
bool is_utf16(std::string_view start) noexcept;

// The text as UTF-8, without the mark with which the bytes begin. Half of a character, such as an odd last byte,
// becomes U+FFFD. Linear. Throws std::bad_alloc.
std::string utf8_of_utf16(std::string_view bytes);

}  // namespace bloomgate
