#include "filter/jobs/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/system/file_stamp.hpp"

namespace bloomgate {
namespace {

// While it was waited for, `rollback` may have put another folder in its place.
bool is_still_at(const std::string& folder, int file) {
  struct stat status = {};
  const auto locked = FileStamp::of(file);
  return stat(folder.c_str(), &status) == 0 && locked && locked->is_same_file(FileStamp(status));
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::atomic<bool>& stop, const std::function<void()>& on_wait)
    : folder_(folder) {
  do {
    file_.reset(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!file_.is_open()) throw system_error(ErrorCode::cannot_open, "open the folder", folder, errno);
    // Without a lock two commands could give their layers one name, and one of them would be lost.
    const auto fail = [&] { throw system_error(ErrorCode::cannot_write, "lock the folder", folder, errno); };
    if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) continue;
    if (errno != EWOULDBLOCK && errno != EINTR) fail();
    if (on_wait && errno == EWOULDBLOCK) on_wait();
    while (flock(file_.get(), LOCK_EX) != 0) {
      if (errno != EINTR) fail();
      if (stop) throw BloomgateError(ErrorCode::interrupted, "interrupted while another command had " + folder);
    }
  } while (!is_still_at(folder, file_.get()));
}

void FolderLock::sync() const {
  if (fsync(file_.get()) != 0) throw system_error(ErrorCode::cannot_write, "sync", folder_, errno);
}

}  // namespace bloomgate
