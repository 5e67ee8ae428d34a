// Keeps two changes of one store, or of one counting filter, from running at once: the second would lose the changes of
// the first.
#pragma once

#include <optional>
#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class ChangeLock {
 public:
  // Locks the file at `path` (flock(2)) as long as the object, or the process, lives. Where the file system has no
  // locks, it does without. Throws BloomgateError{cannot_open}, and {cannot_write} if another process has the lock.
  explicit ChangeLock(const std::string& path);

  // The same if there is such a file: otherwise there are no changes to lose.
  static std::optional<ChangeLock> if_there(const std::string& path);

 private:
  FileDescriptor file_;
};

}  // namespace bloomgate
