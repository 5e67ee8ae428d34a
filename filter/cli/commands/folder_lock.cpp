#include "filter/cli/commands/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "filter/base/error.hpp"
#include "filter/cli/stop_signal.hpp"

namespace bloomgate::cli {

FolderLock::FolderLock(const std::string& folder)
    : folder_(folder), file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!file_.is_open()) throw system_error(ErrorCode::cannot_open, "open the folder", folder, errno);
  while (flock(file_.get(), LOCK_EX) != 0) {
    // Without a lock two commands could give their layers one name, and one of them would be lost.
    if (errno != EINTR) throw system_error(ErrorCode::cannot_write, "lock the folder", folder, errno);
    if (stop_flag()) throw BloomgateError(ErrorCode::interrupted, "interrupted while another command had " + folder);
  }
}

void FolderLock::sync() const {
  if (fsync(file_.get()) != 0) throw system_error(ErrorCode::cannot_write, "sync", folder_, errno);
}

}  // namespace bloomgate::cli
