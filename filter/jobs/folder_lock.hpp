// Of two jobs that change what is in a folder, layers or lists, one waits for the other.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

// Held as long as the object lives; a killed process leaves none.
class FolderLock {
 public:
  // Waits, after a call of `on_wait`, which may be empty. Throws BloomgateError{cannot_open, cannot_write}, and
  // {interrupted} if `stop` turned true and a signal ended the wait.
  FolderLock(const std::string& folder, const std::atomic<bool>& stop, const std::function<void()>& on_wait = {});

  // Makes the names in the folder durable. Throws BloomgateError{cannot_write}.
  void sync() const;

 private:
  std::string folder_;
  FileDescriptor file_;
};

}  // namespace bloomgate
