// Linked into the test programs with ThreadSanitizer, around pthread's mutexes (ld's --wrap): threads wait now and then
// before they take one and after they have given it up, so that they meet in ever other orders. All that threads hand
// over to each other here goes through a mutex; a condition variable has one, too.
#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace {

// A xorshift generator (Marsaglia 2003) of the thread's own, which begins with its stack's place and the time.
std::uint32_t draw() noexcept {
  thread_local std::uint32_t state = 0;
  if (state == 0) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    state = static_cast<std::uint32_t>(now ^ static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&state))) | 1U;
  }
  state ^= state << 13U;
  state ^= state >> 17U;
  return state ^= state << 5U;
}

void wait_now_and_then() noexcept {
  const std::uint32_t number = draw();
  if (number % 8 == 0) sched_yield();
  if (number % 256 == 1) std::this_thread::sleep_for(std::chrono::microseconds(number >> 24U));
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): ld's names
extern "C" {
int __real_pthread_mutex_lock(pthread_mutex_t* mutex) noexcept;
int __real_pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept;

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  wait_now_and_then();
  return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const int failed = __real_pthread_mutex_unlock(mutex);
  wait_now_and_then();
  return failed;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
