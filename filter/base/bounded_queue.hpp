// A bounded queue between threads: some threads add items, others take and process them, oldest first. Safe from any
// thread. The owner starts the processing threads, since it waits for some of them, and others may outlive it. Each of
// them calls work_off(), or take_all() and note_done() alternately.
//
// A legal use is (offer | push | take | take_all)* (close | drop)+, in any threads; calls after that do not wait. The
// queue may be destroyed after the last call has returned.
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

// The limit of a queue: so many items may wait. To limit a queue by another measure, write a class like this one. The
// queue calls it with its lock held.
template <typename Item>
class RoomForItems {
 public:
  explicit RoomForItems(std::size_t most = std::numeric_limits<std::size_t>::max()) noexcept : most_(most) {}

  // `waiting` is the number of items in the queue.
  bool has_room_for(const Item& /*item*/, std::size_t waiting) const noexcept { return waiting < most_; }
  void note_added(const Item& /*item*/) noexcept {}
  void note_taken(const Item& /*item*/) noexcept {}
  // Whether so many items are enough for take_all() to stop gathering.
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

  // Does not wait. Returns no_room also if memory for the item runs out. A hurried item ends take_all()'s gathering.
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

  // Waits for an item, and takes all that wait, in exchange for the storage of `items`, which must be empty. Before
  // that it lets items gather for so long, unless one of them is hurried or the queue fills. While items gather, adding
  // one wakes no thread, which saves a system call. Returns false once the queue is closed and empty.
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

  // Call it when so many of the items that were taken have been processed.
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

  // Returns when all items that were added before have been processed or dropped (it ends any gathering), or when
  // `patience` is over.
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

  // From now on no item is added. The items that wait can still be taken.
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    end();
  }

  // The same, but the items that wait are dropped.
  void drop() noexcept {
    const std::lock_guard lock(mutex_);
    for (const Item& item : waiting_) room_.note_taken(item);
    done_ += waiting_.size();
    waiting_.clear();
    end();
  }

  // How many waiting threads would get no item if no more came. If negative: how many items have no waiting thread.
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
  std::condition_variable changed_;  // there is more room, or more items are processed
  Room room_;
  Items waiting_;
  std::uint64_t added_ = 0;
  std::uint64_t done_ = 0;  // how many of these are processed or dropped
  std::size_t takers_ = 0;  // threads that wait for an item
  bool is_hurried_ = false;
  bool is_closed_ = false;
};

}  // namespace bloomgate
