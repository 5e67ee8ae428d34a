#include "filter/base/parallel.hpp"

#include <sched.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("there is one thread for each processor that the thread may run on") {
  // In a thread of its own: the other tests keep all processors.
  std::jthread([] {
    cpu_set_t allowed;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    CHECK(default_threads() == static_cast<unsigned>(CPU_COUNT(&allowed)));
    std::size_t first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    CPU_ZERO(&allowed);
    CPU_SET(first, &allowed);
    CHECK(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
    CHECK(default_threads() == 1);
  }).join();
}

TEST_CASE("each number is worked once, by a thread of its own, and the last one by the calling thread") {
  for (const unsigned threads : {1U, 4U}) {
    std::vector<std::atomic<int>> times(threads);
    std::vector<std::thread::id> workers(threads);
    run_parallel(threads, [&](unsigned index) {
      ++times.at(index);
      workers.at(index) = std::this_thread::get_id();
    });
    for (const auto& each : times) CHECK(each == 1);
    for (unsigned index = 0; index < threads; ++index) {
      CHECK((workers[index] == std::this_thread::get_id()) == (index + 1 == threads));
    }
  }
  std::vector<std::atomic<int>> items(100);
  for_each_parallel(3, items.size(), [&](std::size_t item) { ++items.at(item); });
  for (const auto& each : items) CHECK(each == 1);
}

TEST_CASE("the first exception of a thread is thrown after all threads have ended, and ends the handing out of items") {
  std::atomic<bool> has_thrown{false};
  std::atomic<int> ended{0};
  CHECK_THROWS_WITH(run_parallel(2,
                                 [&](unsigned index) {
                                   if (index == 0) {
                                     ++ended;
                                     has_thrown = true;
                                     has_thrown.notify_all();
                                     throw std::runtime_error("the first");
                                   }
                                   has_thrown.wait(false);
                                   ++ended;
                                 }),
                    "the first");
  CHECK(ended == 2);
  std::atomic<int> worked{0};
  CHECK_THROWS_WITH(for_each_parallel(1, 1000,
                                      [&](std::size_t item) {
                                        if (item == 3) throw std::runtime_error("the fourth");
                                        ++worked;
                                      }),
                    "the fourth");
  CHECK(worked == 3);
}

}  // namespace
}  // namespace bloomgate
