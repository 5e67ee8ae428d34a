// Changes bytes of a file without a sign.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate::test {

// Somebody who has the file mapped for writing, and has written to its first page before it is loaded: what he writes
// there from then on changes neither the file's times nor wakes who watches it, as bits that go bad in memory do not.
//
// On a disk that holds until the kernel writes the page there, which it may do at any moment. So the file belongs into
// quiet_place(), which is in memory where there is such a file system.
class SilentWriter {
 public:
  static std::filesystem::path quiet_place() {
    const std::filesystem::path in_memory = "/dev/shm";
    return access(in_memory.c_str(), W_OK | X_OK) == 0 ? in_memory : std::filesystem::temp_directory_path();
  }

  SilentWriter(const std::string& path, std::uint64_t offset) {
    const FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    byte_ = static_cast<std::byte*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(offset)));
    if (byte_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    flip();
    flip();
  }
  ~SilentWriter() { munmap(const_cast<std::byte*>(byte_), kBytes); }
  SilentWriter(const SilentWriter&) = delete;
  SilentWriter& operator=(const SilentWriter&) = delete;

  void flip() const { *byte_ = *byte_ ^ std::byte{1}; }

 private:
  static constexpr std::size_t kBytes = 4096;
  volatile std::byte* byte_;
};

}  // namespace bloomgate::test
