// Locks (flock(2)) by which two commands do not change the same thing at once. A killed process leaves none.
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
  // Locks the file at `path` as long as the object lives. Where the file system has no locks, it does without. Throws
  // BloomgateError{cannot_open}, and {cannot_write} if another process has the lock.
  explicit ChangeLock(const std::string& path);

  // The same if there is such a file: otherwise there are no changes to lose.
  static std::optional<ChangeLock> if_there(const std::string& path);

 private:
  FileDescriptor file_;
};

// Of two jobs that change what is in a folder, layers or lists, one waits for the other.
class FolderLock {
 public:
  // Waits, after a call of `on_wait`, which may be empty; held as long as the object lives. Throws
  // BloomgateError{cannot_open, cannot_write}, and {interrupted} if `stop` turned true and a signal ended the wait.
  FolderLock(const std::string& folder, const std::atomic<bool>& stop, const std::function<void()>& on_wait = {});

  // Makes the names in the folder durable. Throws BloomgateError{cannot_write}.
  void sync() const;

 private:
  std::string folder_;
  FileDescriptor file_;
};

}  // namespace bloomgate
