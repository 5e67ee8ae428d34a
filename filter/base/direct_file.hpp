// Reads and writes of a file past the page cache (O_DIRECT), for large files that are used once: they cost no copying,
// drive nothing out of that cache, and what is read comes from the disk itself. Another descriptor of the same file
// does what cannot be done this way. Safe from any thread once open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "filter/base/file_descriptor.hpp"

namespace bloomgate {

class DirectFile {
 public:
  // Of addresses in memory, offsets and lengths. No disk that is in use wants more.
  static constexpr std::size_t kAlignment = 4096;

  // Not open.
  DirectFile() = default;
  // `flags` as for open(2). Not open where the file system cannot do it.
  DirectFile(const std::string& path, int flags) noexcept;

  bool is_open() const noexcept { return file_.is_open(); }

  // Give how many bytes were done, from the first one on: a multiple of kAlignment, or up to the file's end. None where
  // the file is not open, where `bytes` or `offset` are not aligned, and on an error, which who does the rest will see.
  std::size_t read(std::span<std::byte> bytes, std::uint64_t offset) const noexcept;
  std::size_t write(std::span<const std::byte> bytes, std::uint64_t offset) const noexcept;

 private:
  FileDescriptor file_;
};

}  // namespace bloomgate
