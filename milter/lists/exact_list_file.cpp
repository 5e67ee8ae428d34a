#include "milter/lists/exact_list_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/base/file_descriptor.hpp"

namespace bloomgate {
namespace {

// The whole file, which has that many bytes unless somebody is writing to it.
std::string read_unchanging(int fd, std::size_t file_bytes, const std::string& path) {
  std::string text(file_bytes + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = read(fd, text.data() + have, text.size() - have);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) throw system_error(ErrorCode::cannot_read, "read", path, errno);
    if (count > 0) have += static_cast<std::size_t>(count);
  }
  if (have != file_bytes) {
    throw BloomgateError(ErrorCode::cannot_read,
                         path + " changed its size while it was read, from " + std::to_string(file_bytes) +
                             " bytes; write lists under another name and rename them",
                         {.path = path});
  }
  text.resize(have);
  return text;
}

}  // namespace

ExactListReading load_exact_list(const std::string& path, std::uint64_t most_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status = {};
  if (!file.is_open() || fstat(file.get(), &status) != 0) {
    throw system_error(ErrorCode::cannot_open, "open", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw BloomgateError(ErrorCode::not_a_regular_file,
                         path + " is not a regular file; an exact list is a text file with one entry per line",
                         {.path = path});
  }
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file_bytes > most_bytes) {
    throw BloomgateError(ErrorCode::bad_input,
                         path + " has " + std::to_string(file_bytes) + " bytes, but an exact list may have at most " +
                             std::to_string(most_bytes) + "; put a list of that size into a filter",
                         {path, {}, "at most " + std::to_string(most_bytes) + " bytes", std::to_string(file_bytes)});
  }
  return read_exact_list(read_unchanging(file.get(), file_bytes, path));
}

}  // namespace bloomgate
