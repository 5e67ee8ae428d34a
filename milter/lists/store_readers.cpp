#include "milter/lists/store_readers.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

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

// A page that a message waits for. Shared by the two, since either may be done first. Guarded by the crew's mutex.
struct Request {
  explicit Request(KeyHash wanted) : hash(wanted) {}

  const KeyHash hash;
  std::condition_variable answered;
  std::optional<StoreAnswer> answer = {};
  bool is_given_up = false;
};

}  // namespace

class StoreReaders::Crew {
 public:
  explicit Crew(Source source) : source_(std::move(source)) {}

  StoreAnswer find_cached(KeyHash hash) const { return source_.find_cached(hash); }

  // Nothing: too many wait already. `self` keeps the crew as long as a reader needs it.
  static std::shared_ptr<Request> ask(const std::shared_ptr<Crew>& self, KeyHash hash) {
    const std::lock_guard lock(self->mutex_);
    if (self->waiting_.size() >= kMostWaiting) return nullptr;
    if (self->idle_ <= self->waiting_.size() && self->readers_ < kMostReaders) start_reader(self);
    if (self->readers_ == 0) return nullptr;
    auto request = std::make_shared<Request>(hash);
    self->waiting_.push_back(request);
    self->came_.notify_one();
    return request;
  }

  std::optional<StoreAnswer> wait(Request& request, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    request.answered.wait_until(lock, deadline, [&request] { return request.answer.has_value(); });
    request.is_given_up = !request.answer;
    return request.answer;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    came_.notify_all();
  }

 private:
  // If the system has no thread left, those that there are have more to do.
  static void start_reader(const std::shared_ptr<Crew>& self) {
    const HeldSignals held;
    try {
      std::thread([self] { self->run(); }).detach();
      ++self->readers_;
    } catch (const std::system_error&) {
      return;
    }
  }

  void run() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      came_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      --idle_;
      if (is_ending_) return;
      const std::shared_ptr<Request> request = std::move(waiting_.front());
      waiting_.pop_front();
      // So that a disk that answers again is not kept busy with questions of long ago.
      if (request->is_given_up) continue;
      lock.unlock();
      const StoreAnswer answer = source_.find(request->hash);
      lock.lock();
      request->answer = answer;
      request->answered.notify_one();
    }
  }

  const Source source_;
  std::mutex mutex_;  // for what is below
  std::condition_variable came_;
  std::deque<std::shared_ptr<Request>> waiting_;
  std::size_t readers_ = 0;
  std::size_t idle_ = 0;
  bool is_ending_ = false;
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
    if (before_waiting) before_waiting();
    const std::optional<StoreAnswer> answer = crew_->wait(*request, deadline);
    return answer ? confirmation_of(*answer) : Confirmation::timeout;
  } catch (...) {
    return Confirmation::busy;  // no memory for the question
  }
}

}  // namespace bloomgate
