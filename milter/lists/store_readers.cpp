#include "milter/lists/store_readers.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "filter/base/bounded_queue.hpp"
#include "filter/system/held_signals.hpp"

namespace bloomgate {
namespace {

Confirmation confirmation_of(StoreAnswer answer) noexcept {
  switch (answer) {
    case StoreAnswer::present:
      return Confirmation::yes;
    case StoreAnswer::absent:
      return Confirmation::no;
    case StoreAnswer::damaged:
      return Confirmation::damaged;
    case StoreAnswer::unreadable:
    case StoreAnswer::not_cached:
      break;
  }
  return Confirmation::unreadable;
}

// A page for which a message waits. Both sides share it, since either may finish first.
struct Request {
  explicit Request(KeyHash wanted) : hash(wanted) {}

  const KeyHash hash;
  std::promise<StoreAnswer> answer = {};
  std::atomic<bool> is_given_up = false;
};

}  // namespace

class StoreReaders::Crew {
 public:
  explicit Crew(Source source) : source_(std::move(source)) {}

  StoreAnswer find_cached(KeyHash hash) const { return source_.find_cached(hash); }

  // Null: too many already wait. `self` keeps the crew alive as long as a reader needs it.
  static std::shared_ptr<Request> ask(const std::shared_ptr<Crew>& self, KeyHash hash) {
    auto request = std::make_shared<Request>(hash);
    const std::lock_guard lock(self->mutex_);
    if (self->waiting_.idle_takers() <= 0 && self->readers_ < kMostReaders) start_reader(self);
    if (self->readers_ == 0 || self->waiting_.offer(request) != Offer::added) return nullptr;
    return request;
  }

  void end() noexcept { waiting_.drop(); }

 private:
  // If the system has no thread left, the existing readers have more to do.
  static void start_reader(const std::shared_ptr<Crew>& self) {
    const HeldSignals held;
    try {
      std::thread([self] {
        self->waiting_.work_off([&self](const std::shared_ptr<Request>& request) { self->answer(*request); });
      }).detach();
      ++self->readers_;
    } catch (const std::system_error&) {
      return;
    }
  }

  // Skips requests that were abandoned, so that a disk that answers again is not kept busy with them.
  void answer(Request& request) const noexcept {
    if (!request.is_given_up) request.answer.set_value(source_.find(request.hash));
  }

  const Source source_;
  BoundedQueue<std::shared_ptr<Request>> waiting_{RoomForItems<std::shared_ptr<Request>>(kMostWaiting)};
  std::mutex mutex_;  // protects the number of readers
  std::size_t readers_ = 0;
};

StoreReaders::StoreReaders(Source source) : crew_(std::make_shared<Crew>(std::move(source))) {}

StoreReaders::~StoreReaders() {
  crew_->end();
}

Confirmation StoreReaders::find(KeyHash hash, Clock::time_point deadline,
                                const std::function<void()>& before_waiting) noexcept {
  try {
    const StoreAnswer cached = crew_->find_cached(hash);
    if (cached != StoreAnswer::not_cached) return confirmation_of(cached);
    const std::shared_ptr<Request> request = Crew::ask(crew_, hash);
    if (!request) return Confirmation::busy;
    std::future<StoreAnswer> answer = request->answer.get_future();
    if (before_waiting) before_waiting();
    if (answer.wait_until(deadline) == std::future_status::ready) return confirmation_of(answer.get());
    request->is_given_up = true;
    return Confirmation::timeout;
  } catch (...) {
    return Confirmation::busy;  // no memory for the question
  }
}

}  // namespace bloomgate
