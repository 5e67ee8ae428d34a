// A bounded queue between threads: some add items, others take them and work them off, oldest first. Safe from any
// thread. Its threads are the owner's, since some are waited for and others may outlive their owner: each of them calls
// work_off(), or take_all() and note_done() in turn.
//
// A legal use is (offer | push | take | take_all)* (close | drop)+, in any threads; what is called after that does not
// wait. The queue is destroyed after the last call has returned.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace bloomgate {

// How much may wait: so many items. A queue whose items are counted otherwise has a class of its own like this one.
// The queue calls it with its lock held.
template <typename Item>
class RoomForItems {
 public:
  explicit RoomForItems(std::size_t most = std::numeric_limits<std::size_t>::max()) noexcept : most_(most) {}

  // `waiting` items are in the queue.
  bool has_room_for(const Item& /*item*/, std::size_t waiting) const noexcept { return waiting < most_; }
  void note_added(const Item& /*item*/) noexcept {}
  void note_taken(const Item& /*item*/) noexcept {}
  // Whether so many items do not wait for more to come (take_all).
  bool is_filling(std::size_t waiting) const noexcept { return waiting > most_ / 2; }

 private:
  std::size_t most_;
};

enum class Offer : std::uint8_t { added, no_room, closed };

template <typename Item, typename Room = RoomForItems<Item>>
class BoundedQueue {
 public:
  using Items = std::deque<Item>;

  explicit BoundedQueue(Room room = Room()) : room_(std::move(room)) {}
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  // Does not wait. Where there is no memory for the item, there is no room. A hurried item is not gathered (take_all).
  Offer offer(Item item, bool is_hurried = false) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return Offer::closed;
    if (!room_.has_room_for(item, waiting_.size())) return Offer::no_room;
    try {
      add(std::move(item));
    } catch (const std::bad_alloc&) {
      return Offer::no_room;
    }
    is_hurried_ = is_hurried_ || is_hurried;
    wake_taker();
    return Offer::added;
  }

  // Waits for room. Returns false if the queue is closed: the item is not added. Throws std::bad_alloc.
  bool push(Item item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || room_.has_room_for(item, waiting_.size()); });
    if (is_closed_) return false;
    add(std::move(item));
    wake_taker();
    return true;
  }

  // Waits for an item. Returns nothing once the queue is closed and empty.
  std::optional<Item> take() noexcept {
    std::unique_lock lock(mutex_);
    wait_for_item(lock);
    if (waiting_.empty()) return std::nullopt;
    std::optional<Item> first(std::move(waiting_.front()));
    waiting_.pop_front();
    room_.note_taken(*first);
    changed_.notify_all();
    return first;
  }

  // Waits for an item, and takes all that wait, in exchange for the storage of `items`, which is empty. First gives
  // them that long to gather, unless one of them is in a hurry or the queue fills: meanwhile adding one wakes no
  // thread, which spares it a system call. Returns false once the queue is closed and empty.
  bool take_all(Items& items, std::chrono::nanoseconds gather) noexcept {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, gather, [this] { return is_urgent(); });
    wait_for_item(lock);
    is_hurried_ = false;
    for (const Item& item : waiting_) room_.note_taken(item);
    items.swap(waiting_);
    changed_.notify_all();
    return !items.empty();
  }

  // So many of the items that were taken are worked off.
  void note_done(std::size_t count) noexcept {
    const std::lock_guard lock(mutex_);
    done_ += count;
    changed_.notify_all();
  }

  // Calls `work(item)`, which must not throw, for each item until take() returns nothing.
  template <typename Work>
  void work_off(Work work) noexcept {
    while (std::optional<Item> item = take()) {
      work(std::move(*item));
      item.reset();
      note_done(1);
    }
  }

  // Returns when all that was added before is worked off or dropped, which is not gathered, or when that time is over.
  void wait_until_done(std::optional<std::chrono::nanoseconds> patience = {}) noexcept {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = added_;
    if (!waiting_.empty()) {
      is_hurried_ = true;
      came_.notify_all();
    }
    const auto is_done = [&] { return done_ >= wanted; };
    if (patience) {
      changed_.wait_for(lock, *patience, is_done);
    } else {
      changed_.wait(lock, is_done);
    }
  }

  // Nothing more is added. What waits is still taken.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    end();
  }

  // The same, but nothing more is taken either: what waits is dropped.
  void drop() noexcept {
    const std::lock_guard lock(mutex_);
    for (const Item& item : waiting_) room_.note_taken(item);
    done_ += waiting_.size();
    waiting_.clear();
    end();
  }

  // How many threads that wait would get nothing to do if nothing more came; below 0, how many items wait for a thread.
  std::ptrdiff_t idle_takers() const noexcept {
    const std::lock_guard lock(mutex_);
    return static_cast<std::ptrdiff_t>(takers_) - static_cast<std::ptrdiff_t>(waiting_.size());
  }

 private:
  void end() noexcept {
    is_closed_ = true;
    came_.notify_all();
    changed_.notify_all();
  }

  void add(Item&& item) {
    waiting_.push_back(std::move(item));
    room_.note_added(waiting_.back());
    ++added_;
  }

  bool is_urgent() const noexcept { return is_closed_ || is_hurried_ || room_.is_filling(waiting_.size()); }

  void wake_taker() noexcept {
    if (takers_ != 0 || is_urgent()) came_.notify_one();
  }

  void wait_for_item(std::unique_lock<std::mutex>& lock) noexcept {
    ++takers_;
    came_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
    --takers_;
  }

  mutable std::mutex mutex_;
  std::condition_variable came_;     // an item, or the end
  std::condition_variable changed_;  // there is more room, or more is worked off
  Room room_;
  Items waiting_;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;  // of these
  std::size_t takers_ = 0;  // that wait for a first item
  bool is_hurried_ = false;
  bool is_closed_ = false;
};

}  // namespace bloomgate
