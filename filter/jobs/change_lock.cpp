#include "filter/jobs/change_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

// A change that ended meanwhile has put another file there.
bool is_at(int file, const std::string& path) {
  struct stat own = {};
  struct stat there = {};
  return fstat(file, &own) == 0 && stat(path.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
         own.st_ino == there.st_ino;
}

}  // namespace

ChangeLock::ChangeLock(const std::string& path) {
  do {
    file_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file_.is_open()) throw system_error(ErrorCode::cannot_open, "open", path, errno);
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw BloomgateError(ErrorCode::cannot_write,
                           path + " is being changed by another command; wait until that has ended", {.path = path});
    }
  } while (!is_at(file_.get(), path));
}

std::optional<ChangeLock> ChangeLock::if_there(const std::string& path) {
  if (path.empty() || access(path.c_str(), F_OK) != 0) return std::nullopt;
  return ChangeLock(path);
}

}  // namespace bloomgate
