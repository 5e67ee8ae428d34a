// A text as one word of a command for a shell, in advice that an operator copies. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

// Adds quotes if the text needs them. If quotes are not enough (the text has quotes or backslashes, begins with a dash,
// or has bytes that are not printable ASCII), returns `stand_in`, as in "chmod o-w FILE".
std::string shell_word(std::string_view text, std::string_view stand_in);

}  // namespace bloomgate
