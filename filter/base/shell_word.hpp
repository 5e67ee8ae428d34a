// A text as one word of a command for a shell, in advice that an operator copies. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

// In quotes where it needs them. Where it would need more than these (quotes or backslashes in it, a dash before it,
// bytes that are not printable ASCII): `stand_in`, as in "chmod o-w FILE".
std::string shell_word(std::string_view text, std::string_view stand_in);

}  // namespace bloomgate
