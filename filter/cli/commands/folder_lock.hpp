// Of two commands that change the layers of a folder, one waits for the other.
#pragma once

#include <string>

#include "filter/base/file_descriptor.hpp"

namespace bloomgate::cli {

// Held as long as the object lives; a killed process leaves none.
class FolderLock {
 public:
  // Waits. Throws BloomgateError{cannot_open, cannot_write}, and {interrupted} if the process was told to stop.
  explicit FolderLock(const std::string& folder);

  // Makes the names in the folder durable. Throws BloomgateError{cannot_write}.
  void sync() const;

 private:
  std::string folder_;
  FileDescriptor file_;
};

}  // namespace bloomgate::cli
