// Whole pieces of a file at an offset, whatever the system gives at once. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomgate {

// Both give 0, or the error as in errno; a file that ends too early is EIO.
int write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset) noexcept;
int read_at(int file, std::span<std::byte> bytes, std::uint64_t offset) noexcept;

}  // namespace bloomgate
