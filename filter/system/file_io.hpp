// Opens files, reads and writes whole pieces of them at an offset, even if the system does little in one call, and
// syncs folders. Safe from any thread.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Both return 0 or an errno value; EIO if the file ends too early.
int write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset) noexcept;
int read_at(int file, std::span<std::byte> bytes, std::uint64_t offset) noexcept;

// The bytes of a whole file. Throws BloomgateError{cannot_open, cannot_read}.
std::string read_text(const std::string& path);

// Syncs to disk which names were made, changed or removed in the folder. Returns 0 or an errno value.
int sync_folder(const std::string& folder) noexcept;
// Throws BloomgateError{cannot_write} if that fails.
void sync_folder_or_throw(const std::string& folder);

// Opens a temporary file in `folder`, to read and write, which no other process can open. It disappears when it is
// closed, or when the process ends in any way. If that fails, the object is not open, and errno has the reason. Throws
// std::bad_alloc.
FileDescriptor unnamed_file(const std::string& folder);

// Opens a file of ours to be read: a filter, a store, a part, a secret key. Follows links, and never waits, also not
// for the writer of a FIFO. `status` gets that of the open file. Throws BloomgateError: cannot_open, or
// not_a_regular_file with the advice to name `wanted` ("a filter file").
FileDescriptor open_regular_file(const std::string& path, std::string_view wanted, struct stat& status);

}  // namespace bloomgate
