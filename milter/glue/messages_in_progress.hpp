// Counts the messages between their MAIL command and their end, so that a stop can let them finish. Safe from any
// thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace bloomgate {

class MessagesInProgress {
 public:
  void begin() noexcept {
    const std::lock_guard lock(mutex_);
    ++count_;
  }

  void end() noexcept {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_left_.notify_all();
  }

  // Waits until no message is left, for at most `limit`. Returns how many are left.
  std::size_t wait_for_none(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    none_left_.wait_for(lock, limit, [this] { return count_ == 0; });
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::size_t count_ = 0;
};

}  // namespace bloomgate
