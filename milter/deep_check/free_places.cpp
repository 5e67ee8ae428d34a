#include "milter/deep_check/free_places.hpp"

namespace bloomgate {

FreePlaces::Place FreePlaces::take(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (!freed_.wait_until(lock, deadline, [this] { return free_ > 0; })) return Place();
  --free_;
  return Place(this);
}

void FreePlaces::give_back() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ++free_;
  }
  freed_.notify_one();
}

}  // namespace bloomgate
