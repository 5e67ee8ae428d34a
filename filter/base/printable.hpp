// Makes any bytes safe to show on one line of a log, a status or an error message. Nothing in them can end the line,
// look like another field of it, or move a terminal's cursor. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

// Printable ASCII is kept; everything else becomes `\xNN`. A second call changes nothing.
std::string printable(std::string_view text);

// The same for one value among others on a line. It escapes space and backslash too, so that the value is one word and
// can be decoded. A value of more than `max_bytes` is cut off, and the number of bytes left out follows: `aaaa\+1234`.
std::string printable_word(std::string_view text, std::size_t max_bytes);

}  // namespace bloomgate
