// The builder's fast path through the canonicaliser: a line that is a plain address, 32 bytes at a time.
//
// Nearly every line of a real list is a short ASCII address with nothing to do but fold case. For those, this gives the
// very key that canonicalize_line() gives, some ten times faster; everything else it leaves to that function. A fuzz
// target holds the two against each other. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace bloomgate {

// How many bytes must be readable from the start of a line, whatever its length.
inline constexpr std::size_t kPlainLineReadable = 64;

struct PlainLine {
  std::size_t line_bytes = 0;  // with the line end; 0: not plain, or its line end is out of reach
  std::string_view key;        // in the line itself, or in the buffer where case was folded
};

// Reads the line at `line`, for the profile that folds case. `buffer` must have room for kPlainLineReadable bytes.
PlainLine read_plain_line(const char* line, char* buffer) noexcept;

}  // namespace bloomgate
