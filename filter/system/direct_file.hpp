// Reads and writes of a file past the page cache (O_DIRECT), for large files that are used once. They copy nothing,
// drive nothing out of that cache, and read from the disk itself. Another descriptor of the same file has to do what
// cannot be done this way. Safe from any thread once open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class DirectFile {
 public:
  // Holds for addresses in memory, offsets and lengths. No disk in use needs more.
  static constexpr std::size_t kAlignment = 4096;

  // Not open.
  DirectFile() = default;
  // `flags` are those of open(2). The object is not open if the file system cannot do it.
  DirectFile(const std::string& path, int flags) noexcept;

  bool is_open() const noexcept { return file_.is_open(); }

  // Return how many bytes were done, counted from the first: a multiple of kAlignment, or up to the file's end. They do
  // none if the file is not open, if `bytes` or `offset` is not aligned, or on an error; whoever does the rest will
  // meet that error.
  std::size_t read(std::span<std::byte> bytes, std::uint64_t offset) const noexcept;
  std::size_t write(std::span<const std::byte> bytes, std::uint64_t offset) const noexcept;

 private:
  FileDescriptor file_;
};

}  // namespace bloomgate
