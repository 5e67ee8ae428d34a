// Threads that do the same at the same time: under ThreadSanitizer, a lock that is not taken shows.
#pragma once

#include <latch>
#include <thread>
#include <vector>

namespace bloomgate::test {

// Calls `work(number)` in as many threads, which begin together, and returns when all have ended.
template <typename Work>
void at_once(int threads, Work work) {
  std::latch begin(threads);
  std::vector<std::jthread> all;
  for (int number = 0; number < threads; ++number) {
    all.emplace_back([&begin, &work, number] {
      begin.arrive_and_wait();
      work(number);
    });
  }
}

}  // namespace bloomgate::test
