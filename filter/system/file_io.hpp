// Opens files, reads and writes whole pieces of them at an offset, however little the system does in one call, and
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

// Both return 0 or an errno value; a file that ends too early is EIO.
int write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset) noexcept;
int read_at(int file, std::span<std::byte> bytes, std::uint64_t offset) noexcept;

// The bytes of a whole file. Throws BloomgateError{cannot_open, cannot_read}.
std::string read_text(const std::string& path);

// Has the disk know what was named, renamed or removed in the folder. Returns 0 or an errno value.
int sync_folder(const std::string& folder) noexcept;
// Throws BloomgateError{cannot_write} where that fails.
void sync_folder_or_throw(const std::string& folder);

// Opens a temporary file in `folder`, to read and write, that no other process can open. It is gone when it is closed,
// however the process ends. If that fails, the object is not open and errno says why. Throws std::bad_alloc.
FileDescriptor unnamed_file(const std::string& folder);

// How every file of ours is opened to be read: a filter, a store, a part, a secret key. Opens the file at the end of
// links, and never waits: a FIFO has no writer. `status` is of the open file. Throws
// BloomgateError: cannot_open, or not_a_regular_file with the advice to name `wanted` ("a filter file").
FileDescriptor open_regular_file(const std::string& path, std::string_view wanted, struct stat& status);

}  // namespace bloomgate
