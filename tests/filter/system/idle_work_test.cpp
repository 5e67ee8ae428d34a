#include "filter/system/idle_work.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::hours kForEver{1};

TEST_CASE("each item is worked at once, by threads that run only when a processor is idle") {
  std::vector<std::atomic<int>> times(1000);
  std::atomic<int> others{0};
  for_each_when_idle(3, times.size(), kForEver, [&](std::size_t item) {
    ++times[item];
    if (sched_getscheduler(0) != SCHED_IDLE) ++others;
  });
  for (const auto& each : times) REQUIRE(each == 1);
  CHECK(others == 0);
  CHECK(sched_getscheduler(0) == SCHED_OTHER);
}

TEST_CASE("if no processor becomes idle in time, the calling thread works as well") {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> caller_works{false};
  std::atomic<int> done{0};
  // Only the calling thread can let the other one end.
  for_each_when_idle(1, 100, 1ms, [&](std::size_t) {
    if (std::this_thread::get_id() == caller) {
      caller_works = true;
      caller_works.notify_all();
    } else {
      caller_works.wait(false);
    }
    ++done;
  });
  CHECK(done == 100);
  CHECK(caller_works);
}

TEST_CASE("the exception of an item is thrown at once, and no further item is worked") {
  std::atomic<int> worked{0};
  CHECK_THROWS_WITH(for_each_when_idle(1, 1000, kForEver,
                                       [&](std::size_t item) {
                                         if (item == 3) throw std::runtime_error("the fourth");
                                         ++worked;
                                       }),
                    "the fourth");
  CHECK(worked == 3);
}

TEST_CASE("the calling thread waits for items that other threads still work on") {
  std::atomic<bool> is_taken{false};
  std::atomic<bool> may_end{false};
  std::atomic<bool> has_ended{false};
  const std::thread::id caller = std::this_thread::get_id();
  for_each_when_idle(1, 2, std::chrono::seconds(2), [&](std::size_t) {
    if (std::this_thread::get_id() == caller) {
      is_taken.wait(false);
      may_end = true;
      may_end.notify_all();
    } else if (!is_taken.exchange(true)) {
      is_taken.notify_all();
      may_end.wait(false);
      std::this_thread::sleep_for(20ms);
      has_ended = true;
    }
  });
  CHECK(has_ended);
}

TEST_CASE("without items nothing is done") {
  bool worked = false;
  for_each_when_idle(2, 0, kForEver, [&](std::size_t) { worked = true; });
  CHECK(!worked);
}

}  // namespace
}  // namespace bloomgate
