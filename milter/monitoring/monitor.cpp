#include "milter/monitoring/monitor.hpp"

#include <exception>

#include "milter/monitoring/health_of_daemon.hpp"

namespace bloomgate {
namespace {

constexpr unsigned kSecondsOfMinute = 60;

}  // namespace

MessageCounts messages_of(const Tally& tally) noexcept {
  return {.delivered = tally.messages(Outcome::deliver),
          .checked = tally.messages(Outcome::check),
          .exempt = tally.messages(Outcome::exempt),
          .refused = tally.messages(Outcome::refuse)};
}

void Monitor::note_reload(bool accepted) noexcept {
  tally_.note_reload(accepted);
  if (!accepted) return;
  unproven_.begin_again();
  reloaded_at_.store(SystemClock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

std::optional<Monitor::SystemClock::time_point> Monitor::reloaded_at() const noexcept {
  const SystemClock::rep since_epoch = reloaded_at_.load(std::memory_order_relaxed);
  if (since_epoch == 0) return std::nullopt;
  return SystemClock::time_point(SystemClock::duration(since_epoch));
}

void Monitor::end_second() noexcept {
  probes_.probe(*sources_.lists.get());
  const MessageCounts all = messages_of(tally_);
  history_.add(std::chrono::floor<std::chrono::seconds>(SystemClock::now()), all - before_);
  before_ = all;
  if (++seconds_of_minute_ < kSecondsOfMinute) return;
  seconds_of_minute_ = 0;
  try {
    recent_.close_minute(counts_of(*this));
  } catch (const std::exception&) {
    return;  // no memory: this minute counts with the next one
  }
}

}  // namespace bloomgate
