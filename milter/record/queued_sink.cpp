#include "milter/record/queued_sink.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "filter/system/held_signals.hpp"

namespace bloomgate {
namespace {

constexpr std::chrono::milliseconds kGatherTime{10};

// Whether a step of the writer went well. There is nobody to tell of a failure but the log itself, later.
template <class Step>
bool is_done(const Step& step) noexcept {
  try {
    step();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

QueuedSink::QueuedSink(std::shared_ptr<spdlog::sinks::sink> writer, Limits limits)
    : writer_(std::move(writer)), limits_(limits) {
  const HeldSignals held;
  thread_ = std::thread([this] { write_until_told_to_end(); });
}

QueuedSink::~QueuedSink() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wanted_.notify_one();
  thread_.join();
}

void QueuedSink::log(const spdlog::details::log_msg& line) {
  bool must_wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= limits_.lines || line.payload.size() > limits_.bytes - queued_bytes_) {
      count_one_lost();
      return;
    }
    try {
      queue_.emplace_back(line);
    } catch (const std::bad_alloc&) {
      count_one_lost();
      return;
    }
    queued_bytes_ += line.payload.size();
    ++came_;
    if (line.level >= spdlog::level::err) is_hurried_ = true;
    must_wake = is_resting_ || is_urgent();
  }
  if (must_wake) wanted_.notify_one();
}

void QueuedSink::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = came_;
  is_hurried_ = true;
  wanted_.notify_one();
  written_.wait_for(lock, limits_.flush_patience, [&] { return done_ >= wanted; });
}

void QueuedSink::count_lost() noexcept {
  const std::lock_guard lock(mutex_);
  count_one_lost();
}

std::uint64_t QueuedSink::lost_in_all() const {
  const std::lock_guard lock(mutex_);
  return lost_in_all_;
}

void QueuedSink::write_until_told_to_end() {
  Lines lines;
  std::unique_lock lock(mutex_);
  for (;;) {
    is_resting_ = true;
    wanted_.wait(lock, [&] { return ends_ || !queue_.empty(); });
    is_resting_ = false;
    while (!queue_.empty()) {
      lines.swap(queue_);
      queued_bytes_ = 0;
      is_hurried_ = false;
      std::uint64_t unsaid = std::exchange(lost_, 0);
      lock.unlock();
      const std::uint64_t lost = write(lines, unsaid);
      const std::size_t count = lines.size();
      lines.clear();
      lock.lock();
      lost_ += lost + unsaid;
      lost_in_all_ += lost;
      done_ += count;
      written_.notify_all();
      wanted_.wait_for(lock, kGatherTime, [&] { return is_urgent(); });
    }
    if (ends_) return;
  }
}

// Returns how many of the lines are lost. `unsaid` are those that were lost before: 0 once the log says how many. A
// sink that gathers lines itself throws when it is flushed.
std::uint64_t QueuedSink::write(const Lines& lines, std::uint64_t& unsaid) noexcept {
  std::uint64_t lost = 0;
  for (const auto& line : lines) {
    if (!is_done([&] { writer_->log(line); })) ++lost;
  }
  const auto say = [&] {
    const std::string text =
        fmt::format("log lines lost here: {}; they came faster than the log takes them, or it failed", unsaid);
    writer_->log(spdlog::details::log_msg(lines.back().logger_name, spdlog::level::warn, text));
  };
  const bool is_said = unsaid != 0 && is_done(say);
  if (!is_done([&] { writer_->flush(); })) return lines.size();
  if (is_said) unsaid = 0;
  return lost;
}

}  // namespace bloomgate
