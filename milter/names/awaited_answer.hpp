// The answer for a name, from the start of its look-up. libunbound's thread, the watch over the servers, and the
// session that waits have a reference each, since any of them may finish first. Safe from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "milter/names/txt_record.hpp"

namespace bloomgate {

class AwaitedAnswer {
 public:
  using Clock = std::chrono::steady_clock;

  explicit AwaitedAnswer(std::string name) : name_(std::move(name)), start_(Clock::now()) {}

  const std::string& name() const noexcept { return name_; }
  Clock::time_point start() const noexcept { return start_; }

  // Sets the answer. Only the first call has an effect.
  void set(TxtRecord record) noexcept {
    const std::lock_guard lock(mutex_);
    if (record_) return;
    record_ = std::move(record);
    took_ = Clock::now() - start_;
    came_.notify_all();
  }

  // If the deadline passes, the answer becomes timed_out.
  TxtRecord wait_until(Clock::time_point deadline) {
    {
      std::unique_lock lock(mutex_);
      if (came_.wait_until(lock, deadline, [this] { return record_.has_value(); })) return *record_;
    }
    set({.status = TxtStatus::timed_out});
    const std::lock_guard lock(mutex_);
    return *record_;
  }

  // Nothing until there is an answer.
  std::optional<TxtStatus> status() const noexcept {
    const std::lock_guard lock(mutex_);
    return record_ ? std::optional(record_->status) : std::nullopt;
  }

  // The time from the start of the look-up to its answer.
  Clock::duration took() const noexcept {
    const std::lock_guard lock(mutex_);
    return took_;
  }

 private:
  const std::string name_;
  const Clock::time_point start_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::optional<TxtRecord> record_;
  Clock::duration took_{};
};

}  // namespace bloomgate
