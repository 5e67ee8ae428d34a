#include "filter/system/regular_file.hpp"

#include <fcntl.h>

#include <cerrno>

#include "filter/base/error.hpp"

namespace bloomgate {

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
