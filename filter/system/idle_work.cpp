#include "filter/system/idle_work.hpp"

#include <sched.h>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace bloomgate {
namespace {

// Shared by the threads. A thread that gets no processor until all is done may outlive the call: it finds no item, and
// does not use `work`.
class Items {
 public:
  Items(std::size_t count, const std::function<void(std::size_t)>& work) : count_(count), work_(work) {}

  void work_off() noexcept {
    std::unique_lock lock(mutex_);
    while (next_ < count_) {
      const std::size_t item = next_++;
      ++at_work_;
      lock.unlock();
      std::exception_ptr failure;
      try {
        work_(item);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      --at_work_;
      if (!failure) continue;
      next_ = count_;
      if (!failure_) failure_ = failure;
    }
    changed_.notify_all();
  }

  void wait_until_taken(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return next_ == count_; });
  }

  void wait_until_done() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return at_work_ == 0; });
    // Moved, so that the last thread to end, which may be another one, does not release the exception that the caller
    // uses.
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::size_t next_ = 0;
  std::size_t at_work_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void run_only_when_idle() noexcept {
  const sched_param none = {};
  sched_setscheduler(0, SCHED_IDLE, &none);
}

void for_each_when_idle(unsigned threads, std::size_t count, std::chrono::milliseconds patience,
                        const std::function<void(std::size_t)>& work) {
  const auto items = std::make_shared<Items>(count, work);
  try {
    for (unsigned started = 0; started < threads; ++started) {
      std::thread([items] {
        run_only_when_idle();
        items->work_off();
      }).detach();
    }
  } catch (const std::exception&) {
    // No thread could be started. Threads that were started use `work`, so this call must continue to the end.
    patience = {};
  }
  items->wait_until_taken(patience);
  items->work_off();
  items->wait_until_done();
}

}  // namespace bloomgate
