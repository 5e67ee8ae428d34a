#include "milter/record/queued_sink.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "filter/system/held_signals.hpp"

namespace bloomgate {
namespace {

constexpr std::chrono::milliseconds kGatherTime{10};

// Returns whether a step of the writer succeeded. A failure can only be reported later, in the log itself.
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
    : writer_(std::move(writer)), flush_patience_(limits.flush_patience), queue_(Room(limits)) {
  const HeldSignals held;
  thread_ = std::thread([this] { write_until_closed(); });
}

QueuedSink::~QueuedSink() {
  queue_.close();
  thread_.join();
}

void QueuedSink::log(const spdlog::details::log_msg& line) {
  try {
    if (queue_.offer(Line(line), line.level >= spdlog::level::err) != Offer::added) count_lost();
  } catch (const std::bad_alloc&) {
    count_lost();
  }
}

void QueuedSink::flush() {
  queue_.wait_until_done(flush_patience_);
}

void QueuedSink::write_until_closed() noexcept {
  std::chrono::milliseconds gather{0};
  for (Queue::Items lines; queue_.take_all(lines, std::exchange(gather, kGatherTime)); lines.clear()) {
    std::uint64_t unsaid = lost_.exchange(0);
    const std::uint64_t lost = write(lines, unsaid);
    lost_ += lost + unsaid;
    lost_in_all_ += lost;
    queue_.note_done(lines.size());
  }
}

// Returns how many of the lines are lost. `unsaid` are earlier losses: 0 once the log has reported them. A sink that
// buffers lines itself throws when it is flushed.
std::uint64_t QueuedSink::write(const Queue::Items& lines, std::uint64_t& unsaid) noexcept {
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
