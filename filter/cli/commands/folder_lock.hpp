// The lock of a folder for a command: a signal ends the wait for it.
#pragma once

#include "filter/cli/stop_signal.hpp"
#include "filter/jobs/folder_lock.hpp"

namespace bloomgate::cli {

struct FolderLock : bloomgate::FolderLock {
  explicit FolderLock(const std::string& folder, const std::function<void()>& on_wait = {})
      : bloomgate::FolderLock(folder, stop_flag(), on_wait) {}
};

}  // namespace bloomgate::cli
