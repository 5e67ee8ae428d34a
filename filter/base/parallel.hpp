// Fork and join: the one way in which the filter library uses threads.
#pragma once

#include <sched.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace bloomgate {

// The default number of threads: one for each processor that this thread may run on (sched_getaffinity(2)), which
// taskset(1), a cpuset or systemd's CPUAffinity= may have made fewer than the machine has.
inline unsigned default_threads() noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
  // The machine has more processors than the set has room for.
  const unsigned processors = std::thread::hardware_concurrency();
  return processors == 0 ? 1 : processors;
}

// Calls `work(index)` for every index in [0, threads), each in its own thread (the last one in this thread), and waits
// for all. If some of them throw, the first exception is thrown here, after all have ended.
template <typename Work>
void run_parallel(unsigned threads, Work work) {
  std::exception_ptr failure;
  std::mutex mutex;
  const auto guarded = [&](unsigned index) noexcept {
    try {
      work(index);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(threads);
    for (unsigned index = 0; index + 1 < threads; ++index) others.emplace_back(guarded, index);
    guarded(threads - 1);
  }
  if (failure) std::rethrow_exception(failure);
}

// Calls `work(item)` for every item in [0, count), handed out one by one to `threads` threads. After an exception no
// further items are handed out.
template <typename Work>
void for_each_parallel(unsigned threads, std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  run_parallel(threads, [&](unsigned) {
    try {
      for (std::size_t item; (item = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(item);
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      throw;
    }
  });
}

}  // namespace bloomgate
