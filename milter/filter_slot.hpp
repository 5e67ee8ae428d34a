// Holds the whitelist that is in use. Sessions take a snapshot for each decision; a reload puts another in. A snapshot
// stays valid for as long as it is held, whatever the slot does.
//
// Safe from any thread. A mutex held for the copy of a pointer is cheap beside a message, and plainly right.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "milter/loaded_filter.hpp"

namespace bloomgate {

class FilterSlot {
 public:
  // Null where no whitelist is loaded.
  std::shared_ptr<const LoadedFilter> get() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  void set(std::shared_ptr<const LoadedFilter> next) {
    // The old one may go, which takes milliseconds for a big file: after the lock.
    const std::lock_guard lock(mutex_);
    current_.swap(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const LoadedFilter> current_;
};

}  // namespace bloomgate
