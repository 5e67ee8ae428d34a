// How much of a file is in memory: in the system's page cache, for any program. For `bloomgate info --residency`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bloomgate {

// The bytes of whole pages in memory, by mincore(2). Nothing is read, and pages that are not in memory stay so. Nothing
// if the kernel does not tell: since Linux 5.2, for a file that the caller neither owns nor may write to, it would
// report all of it. `file` must be open for reading, and have `bytes`; `path` is for errors. Cost: some 10 ms for a GB.
// Throws BloomgateError{cannot_open}.
std::optional<std::uint64_t> resident_bytes(int file, std::uint64_t bytes, const std::string& path);

}  // namespace bloomgate
