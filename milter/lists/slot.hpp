// Holds what sessions share and a reload replaces: the lists in use, the rules, the parts of connections. Sessions take
// a snapshot; a reload stores another value. A snapshot stays valid as long as it is held, whatever happens to the
// slot.
//
// Safe from any thread. A mutex around the copy of a pointer is cheap compared with a message, and obviously correct.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace bloomgate {

template <typename Value>
class Slot {
 public:
  Slot() : current_(std::make_shared<const Value>()) {}
  // `first` must not be null.
  explicit Slot(std::shared_ptr<const Value> first) noexcept : current_(std::move(first)) {}

  // Never null.
  std::shared_ptr<const Value> get() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  // `next` must not be null.
  void set(std::shared_ptr<const Value> next) {
    // This may free the old value, which takes milliseconds for a big file. So it is freed after the lock was released.
    const std::lock_guard lock(mutex_);
    current_.swap(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Value> current_;
};

}  // namespace bloomgate
