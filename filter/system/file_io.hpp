// Reads and writes whole pieces of a file at an offset, however little the system does in one call, and syncs folders.
// Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

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

}  // namespace bloomgate
