#include "filter/system/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "filter/base/error.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

int write_at(int file, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (written == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

int read_at(int file, std::span<std::byte> bytes, std::uint64_t offset) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (count == 0) return EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return 0;
}

std::string read_text(const std::string& path) {
  constexpr std::size_t kBytesAtOnce = std::size_t{1} << 16;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw system_error(ErrorCode::cannot_open, "open", path, errno);
  std::string text;
  for (ssize_t count = 1; count != 0;) {
    const std::size_t have = text.size();
    text.resize(have + kBytesAtOnce);
    count = read(file.get(), text.data() + have, kBytesAtOnce);
    text.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno != EINTR) throw system_error(ErrorCode::cannot_read, "read", path, errno);
  }
  return text;
}

int sync_folder(const std::string& folder) noexcept {
  const FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.is_open() && fsync(file.get()) == 0 ? 0 : errno;
}

void sync_folder_or_throw(const std::string& folder) {
  if (const int error = sync_folder(folder)) throw system_error(ErrorCode::cannot_write, "sync", folder, error);
}

// Some file systems cannot make a file without a name. There the file gets a name, which is removed at once.
FileDescriptor unnamed_file(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (file.is_open() || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string path = folder + "/.bloomgate-XXXXXX";
  file.reset(mkostemp(path.data(), O_CLOEXEC));
  if (file.is_open()) unlink(path.c_str());
  return file;
}

FileDescriptor open_regular_file(const std::string& path, std::string_view wanted, struct stat& status) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open() || fstat(file.get(), &status) != 0) {
    throw system_error(ErrorCode::cannot_open, "open", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw BloomgateError(ErrorCode::not_a_regular_file, path + " is not a regular file; name " + std::string(wanted),
                         {.path = path, .expected = "a regular file", .got = "another kind of file"});
  }
  return file;
}

}  // namespace bloomgate
