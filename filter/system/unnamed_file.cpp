#include "filter/system/unnamed_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace bloomgate {

// Some file systems cannot make a file without a name. There it gets a name and loses it at once.
FileDescriptor unnamed_file(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (file.is_open() || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string path = folder + "/.bloomgate-XXXXXX";
  file.reset(mkostemp(path.data(), O_CLOEXEC));
  if (file.is_open()) unlink(path.c_str());
  return file;
}

}  // namespace bloomgate
