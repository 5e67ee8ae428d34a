// Makes any bytes fit to be shown on one line of a log, a status or an error message, so that nothing in them can end
// the line, pass for another field of it, or move a terminal's cursor. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

// Printable ASCII is kept; everything else becomes `\xNN`. What has gone through it once stays as it is.
std::string printable(std::string_view text);

// The same for a value among others on a line: space and backslash are escaped too, so that it is one word that can be
// turned back. Of more than `max_bytes` the first ones are shown, and how many were left out: `aaaa\+1234`.
std::string printable_word(std::string_view text, std::size_t max_bytes);

}  // namespace bloomgate
