// The identity of a file, and when it was last written to: shows whether a process writes to a file in place while it
// is read or mapped. Safe from any thread. Cost: one fstat(2), some 0.2 µs on a local file system.
//
// A file system may give two writes within one of its ticks (4 ms on Linux before 6.13) the same time: then only a
// change of the size shows. The change time (ctime) is not used: it also changes when a file is renamed, or another is
// renamed over it, which is the right way to replace filters.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

namespace bloomgate {

class FileStamp {
 public:
  FileStamp() = default;  // that of no file
  explicit FileStamp(const struct stat& status) noexcept
      : device_(status.st_dev),
        inode_(status.st_ino),
        size_bytes_(static_cast<std::uint64_t>(status.st_size)),
        seconds_(status.st_mtim.tv_sec),
        nanoseconds_(status.st_mtim.tv_nsec) {}

  // Nothing if fstat(2) fails, for example because the server of the file no longer knows it.
  static std::optional<FileStamp> of(int file) noexcept {
    struct stat status = {};
    return fstat(file, &status) == 0 ? std::optional(FileStamp(status)) : std::nullopt;
  }

  // The stamp of the path itself: a link is not followed. Nothing if lstat(2) fails.
  static std::optional<FileStamp> of_path(const std::string& path) noexcept {
    struct stat status = {};
    return lstat(path.c_str(), &status) == 0 ? std::optional(FileStamp(status)) : std::nullopt;
  }

  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  // Whether both are of one file, even if it was written to in between.
  bool is_same_file(const FileStamp& other) const noexcept {
    return device_ == other.device_ && inode_ == other.inode_;
  }

  // The same file, and not written to in between.
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::time_t seconds_ = 0;
  long nanoseconds_ = 0;
};

}  // namespace bloomgate
