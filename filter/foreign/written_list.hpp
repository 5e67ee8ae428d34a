// Distinguishes a list that was edited from one that is as `bloomgate import` wrote it. Pure; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace bloomgate {

// The text with a last line, a comment, that has a checksum of the other lines. Throws std::bad_alloc.
std::string with_checksum(std::string text);

// Whether the last line has the checksum of the other lines.
bool is_as_written(std::string_view text);

}  // namespace bloomgate
