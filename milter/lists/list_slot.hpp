// Holds the lists in use. Sessions take a snapshot for each decision; a reload puts new lists in. A snapshot stays
// valid as long as it is held, whatever the slot does.
//
// Safe from any thread. A mutex around the copy of a pointer is cheap compared with a message, and obviously correct.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "milter/lists/loaded_lists.hpp"

namespace bloomgate {

class ListSlot {
 public:
  // Never null.
  std::shared_ptr<const LoadedLists> get() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  // `next` must not be null.
  void set(std::shared_ptr<const LoadedLists> next) {
    // This may free the old lists, which takes milliseconds for a big file, so it happens after the lock.
    const std::lock_guard lock(mutex_);
    current_.swap(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const LoadedLists> current_ = std::make_shared<const LoadedLists>();
};

}  // namespace bloomgate
