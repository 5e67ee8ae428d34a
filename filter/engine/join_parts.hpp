// Puts the parts of a filter together: the other end of filter_part.hpp. Used by `bloomgate join` and the library.
#pragma once

#include <atomic>
#include <span>
#include <string>

#include "filter/file/file_format.hpp"

namespace bloomgate {

// Writes the filter that the part files make, to `path` (see FilterWriter), with `threads` threads: byte for byte the
// file that FilterBuilder makes of all their entries, with the same options. Each part is checked before its bits are
// taken. Takes a MiB of memory for each thread, and 8 bytes for each MiB of the parts. Returns the header as written.
//
// Throws BloomgateError{bad_input} for parts of different filters, or where a block is in two of them or in none, what
// PartFile and FilterWriter throw, and {interrupted} if `stop` turned true.
FilterHeader join_parts(std::span<const std::string> part_paths, const std::string& path, unsigned threads,
                        const std::atomic<bool>& stop);

}  // namespace bloomgate
