// Reads and writes a file without the page cache (O_DIRECT), for large files that are used once. This copies nothing,
// displaces nothing from that cache, and reads from the disk itself. For anything that cannot be done this way, use
// another descriptor of the same file. Safe from any thread after opening.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class DirectFile {
 public:
  // The required alignment of addresses in memory, offsets and lengths. No disk in use needs more.
  static constexpr std::size_t kAlignment = 4096;

  // Not open.
  DirectFile() = default;
  // `flags` are those of open(2). The object is not open if the file system cannot do it.
  DirectFile(const std::string& path, int flags) noexcept;

  bool is_open() const noexcept { return file_.is_open(); }

  // Return how many bytes were read or written, from the first one on: a multiple of kAlignment, or up to the file's
  // end. The result is 0 if the file is not open, if `bytes` or `offset` is not aligned, or on an error; the caller,
  // who does the rest in another way, will then meet that error.
  std::size_t read(std::span<std::byte> bytes, std::uint64_t offset) const noexcept;
  std::size_t write(std::span<const std::byte> bytes, std::uint64_t offset) const noexcept;

 private:
  FileDescriptor file_;
};

}  // namespace bloomgate
