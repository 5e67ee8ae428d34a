// The queue between threads: what has room, what waits for what, and how it ends.
#include "filter/base/bounded_queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using Numbers = BoundedQueue<int>;

// Room for numbers whose sum is at most ten. One that is larger has room alone.
class RoomForTen : public RoomForItems<int> {
 public:
  bool has_room_for(int item, std::size_t waiting) const noexcept { return waiting == 0 || sum_ + item <= 10; }
  void note_added(int item) noexcept { sum_ += item; }
  void note_taken(int item) noexcept { sum_ -= item; }

 private:
  int sum_ = 0;
};

std::vector<int> taken_from(Numbers& queue) {
  std::vector<int> all;
  while (const std::optional<int> item = queue.take()) all.push_back(*item);
  return all;
}

TEST_CASE("a full queue refuses items, and taking one makes room") {
  Numbers queue(RoomForItems<int>(2));
  CHECK(queue.offer(1) == Offer::added);
  CHECK(queue.offer(2) == Offer::added);
  CHECK(queue.offer(3) == Offer::no_room);
  CHECK(queue.take() == 1);
  CHECK(queue.offer(4) == Offer::added);
  queue.close();
  CHECK(queue.offer(5) == Offer::closed);
  CHECK(taken_from(queue) == std::vector<int>{2, 4});
}

TEST_CASE("a queue may limit its items by their size") {
  BoundedQueue<int, RoomForTen> queue;
  CHECK(queue.offer(12) == Offer::added);
  CHECK(queue.offer(1) == Offer::no_room);
  CHECK(queue.take() == 12);
  CHECK(queue.offer(4) == Offer::added);
  CHECK(queue.offer(6) == Offer::added);
  CHECK(queue.offer(1) == Offer::no_room);
  BoundedQueue<int, RoomForTen>::Items all;
  CHECK(queue.take_all(all, 0ms));
  CHECK(all == BoundedQueue<int, RoomForTen>::Items{4, 6});
  CHECK(queue.offer(10) == Offer::added);
  queue.drop();
  CHECK(queue.offer(1) == Offer::closed);
}

TEST_CASE("many threads add and many take: each item comes once, and one thread's items in their order") {
  constexpr int kOfEach = 5000;
  constexpr int kThreads = 3;
  Numbers queue(RoomForItems<int>(7));
  std::vector<std::vector<int>> taken(kThreads);
  std::vector<std::jthread> takers;
  for (std::vector<int>& own : taken) takers.emplace_back([&] { own = taken_from(queue); });
  {
    std::vector<std::jthread> adders;
    for (int first = 0; first < kThreads * kOfEach; first += kOfEach) {
      adders.emplace_back([&queue, first] {
        for (int i = first; i < first + kOfEach; ++i) queue.push(i);
      });
    }
  }
  queue.close();
  takers.clear();
  std::vector<int> all;
  for (const std::vector<int>& own : taken) {
    for (int adder = 0; adder < kThreads; ++adder) {
      std::vector<int> in_order;
      std::ranges::copy_if(own, std::back_inserter(in_order), [&](int item) { return item / kOfEach == adder; });
      CHECK(std::ranges::is_sorted(in_order));
    }
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  std::vector<int> wanted(std::size_t{kThreads} * kOfEach);
  std::iota(wanted.begin(), wanted.end(), 0);
  CHECK(all == wanted);
}

TEST_CASE("a full queue that is closed lets go of the thread that waits for room") {
  Numbers queue(RoomForItems<int>(1));
  queue.push(1);
  std::atomic<bool> was_added = true;
  std::jthread adder([&] { was_added = queue.push(2); });
  queue.close();
  adder.join();
  CHECK_FALSE(was_added);
  CHECK(taken_from(queue) == std::vector<int>{1});
}

TEST_CASE("a closed queue is worked off, and a dropped one is not") {
  for (const bool is_dropped : {false, true}) {
    Numbers queue;
    std::vector<int> worked;
    std::atomic<bool> is_at_work = false;
    std::atomic<bool> may_go_on = false;
    queue.push(1);
    queue.push(2);
    std::jthread worker([&] {
      queue.work_off([&](int item) {
        is_at_work = true;
        is_at_work.notify_all();
        may_go_on.wait(false);
        worked.push_back(item);
      });
    });
    is_at_work.wait(false);
    is_dropped ? queue.drop() : queue.close();
    may_go_on = true;
    may_go_on.notify_all();
    queue.wait_until_done();
    worker.join();
    CHECK(worked == (is_dropped ? std::vector<int>{1} : std::vector<int>{1, 2}));
  }
}

TEST_CASE("waiting until all is done waits for items that were added before, and no longer than asked") {
  Numbers queue;
  queue.wait_until_done();
  queue.push(1);
  queue.wait_until_done(1ms);
  CHECK(queue.take() == 1);
  queue.wait_until_done(1ms);  // it is not worked off yet
  queue.note_done(1);
  queue.wait_until_done();
}

TEST_CASE("items gather, unless one is hurried, half of the room is used, or a thread waits until they are done") {
  constexpr auto kForever = 1h;
  Numbers queue(RoomForItems<int>(4));
  Numbers::Items all;
  std::atomic<int> batches = 0;
  std::jthread taker([&] {
    while (queue.take_all(all, kForever)) {
      ++batches;
      queue.note_done(all.size());
      all.clear();
    }
  });
  queue.offer(1, true);
  queue.wait_until_done();
  CHECK(batches == 1);
  queue.offer(1);
  queue.offer(2);
  CHECK(batches == 1);
  queue.offer(3);
  while (batches == 1) std::this_thread::yield();
  CHECK(batches == 2);
  queue.offer(4);
  queue.wait_until_done();
  CHECK(batches == 3);
  queue.offer(5);
  queue.close();
  taker.join();
  CHECK(batches == 4);
}

TEST_CASE("whether another thread is needed shows from those that wait") {
  Numbers queue;
  CHECK(queue.idle_takers() == 0);
  queue.push(1);
  CHECK(queue.idle_takers() == -1);
  CHECK(queue.take() == 1);
  std::jthread taker([&] { queue.work_off([](int) {}); });
  while (queue.idle_takers() != 1) std::this_thread::yield();
  queue.close();
}

TEST_CASE("items need no copy, and one that has no room ends") {
  BoundedQueue<std::unique_ptr<int>> queue{RoomForItems<std::unique_ptr<int>>(1)};
  CHECK(queue.offer(std::make_unique<int>(7)) == Offer::added);
  CHECK(queue.offer(std::make_unique<int>(8)) == Offer::no_room);
  CHECK(**queue.take() == 7);
}

}  // namespace
}  // namespace bloomgate
