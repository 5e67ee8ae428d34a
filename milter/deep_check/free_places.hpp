// Limits how many messages are checked at once. If all slots are occupied, the next message waits for one, up to a
// deadline. Safe from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

namespace bloomgate {

class FreePlaces {
 public:
  // A slot, which is released when this object is destroyed.
  class Place {
   public:
    explicit Place(FreePlaces* places = nullptr) noexcept : places_(places) {}
    Place(Place&& other) noexcept : places_(std::exchange(other.places_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (places_) places_->give_back();
    }
    explicit operator bool() const noexcept { return places_ != nullptr; }

   private:
    FreePlaces* places_;
  };

  explicit FreePlaces(std::size_t count) : free_(count) {}

  // Returns an empty place if no slot becomes free in time.
  Place take(std::chrono::steady_clock::time_point deadline);

 private:
  void give_back() noexcept;

  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t free_;
};

}  // namespace bloomgate
