// Locks (flock(2)) that prevent two commands from changing the same thing at once. A killed process leaves no lock.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Keeps two changes of one store, or of one counting filter, from running at once: the second would lose the changes of
// the first.
class ChangeLock {
 public:
  // Locks the file at `path` as long as the object lives. If the file system has no locks, it does nothing. Throws
  // BloomgateError{cannot_open}, and {cannot_write} if another process has the lock.
  explicit ChangeLock(const std::string& path);

  // The same if the file exists: otherwise there are no changes to lose.
  static std::optional<ChangeLock> if_there(const std::string& path);

 private:
  FileDescriptor file_;
};

// If two jobs change the layers or lists of one folder, this lock makes the second wait for the first.
class FolderLock {
 public:
  // Waits for the lock, after a call of `on_wait`, which may be empty; holds it as long as the object lives. Throws
  // BloomgateError{cannot_open, cannot_write}, and {interrupted} if `stop` turned true and a signal ended the wait.
  FolderLock(const std::string& folder, const std::atomic<bool>& stop, const std::function<void()>& on_wait = {});

  // Makes the names in the folder durable. Throws BloomgateError{cannot_write}.
  void sync() const;

 private:
  std::string folder_;
  FileDescriptor file_;
};

}  // namespace bloomgate
