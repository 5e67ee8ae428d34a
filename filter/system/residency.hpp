// How much of a file is in memory: in the system's page cache, for whichever program. For `bloomgate info --residency`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bloomgate {

// Bytes, of whole pages, by mincore(2): nothing is read, and what is not in memory stays so. Nothing where the kernel
// does not tell: of a file that the caller neither owns nor may write to it would say that all of it is (since
// Linux 5.2). `file` is open for reading, and has `bytes`; `path` is for errors. Cost: some 10 ms for a GB. Throws
// BloomgateError{cannot_open}.
std::optional<std::uint64_t> resident_bytes(int file, std::uint64_t bytes, const std::string& path);

}  // namespace bloomgate
