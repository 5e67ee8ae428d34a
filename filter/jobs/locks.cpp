#include "filter/jobs/locks.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

// Whether the file is still at `path`: a change that ended meanwhile has put another file there, or `rollback` another
// folder.
bool is_at(int file, const std::string& path) {
  struct stat there = {};
  const auto locked = FileStamp::of(file);
  return stat(path.c_str(), &there) == 0 && locked && locked->is_same_file(FileStamp(there));
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

FolderLock::FolderLock(const std::string& folder, const std::atomic<bool>& stop, const std::function<void()>& on_wait)
    : folder_(folder) {
  do {
    file_.reset(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!file_.is_open()) throw system_error(ErrorCode::cannot_open, "open the folder", folder, errno);
    // Without a lock two commands could give their layers the same name, and one layer would be lost.
    const auto fail = [&] { throw system_error(ErrorCode::cannot_write, "lock the folder", folder, errno); };
    if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) continue;
    if (errno != EWOULDBLOCK && errno != EINTR) fail();
    if (on_wait && errno == EWOULDBLOCK) on_wait();
    while (flock(file_.get(), LOCK_EX) != 0) {
      if (errno != EINTR) fail();
      if (stop) throw BloomgateError(ErrorCode::interrupted, "interrupted while another command had " + folder);
    }
  } while (!is_at(file_.get(), folder));
}

void FolderLock::sync() const {
  if (fsync(file_.get()) != 0) throw system_error(ErrorCode::cannot_write, "sync", folder_, errno);
}

}  // namespace bloomgate
