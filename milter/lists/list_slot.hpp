// Holds the lists that are in use. Sessions take a snapshot for each decision; a reload puts others in. A snapshot
// stays valid for as long as it is held, whatever the slot does.
//
// Safe from any thread. A mutex held for the copy of a pointer is cheap beside a message, and plainly right.
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
    // The old ones may go, which takes milliseconds for a big file: after the lock.
    const std::lock_guard lock(mutex_);
    current_.swap(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const LoadedLists> current_ = std::make_shared<const LoadedLists>();
};

}  // namespace bloomgate
