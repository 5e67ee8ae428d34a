// How many messages got which decision: in each of the last 90 minutes, and in each quarter of an hour of the last 31
// days. The charts of the status page use it, and so does the file that keeps it while the daemon is not running. It is
// computed once a second from counts that only grow, so it costs messages nothing. Used by one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

// Messages since the start of the daemon, or of a period.
struct MessageCounts {
  std::uint64_t delivered = 0;
  std::uint64_t checked = 0;
  std::uint64_t exempt = 0;
  std::uint64_t refused = 0;

  std::uint64_t all() const noexcept { return delivered + checked + exempt + refused; }
  MessageCounts& operator+=(const MessageCounts& more) noexcept;
  friend MessageCounts operator-(const MessageCounts& a, const MessageCounts& b) noexcept {
    return {a.delivered - b.delivered, a.checked - b.checked, a.exempt - b.exempt, a.refused - b.refused};
  }
  friend bool operator==(const MessageCounts&, const MessageCounts&) = default;
};

// The last kSpans periods of kSeconds each, which begin at whole multiples of kSeconds since 1970 (UTC).
template <std::int64_t kSeconds, std::size_t kSpans>
class CountRing {
 public:
  using Time = std::chrono::sys_seconds;
  static constexpr std::chrono::seconds kSpan{kSeconds};
  static constexpr std::size_t kCount = kSpans;

  // A time before the newest period counts for the newest period.
  void add(Time at, const MessageCounts& more) noexcept {
    const std::int64_t number = at.time_since_epoch() / kSpan;
    if (number > newest_) move_to(number);
    spans_[index_of(newest_)] += more;
  }

  // Drops what was counted for periods after that of `at`, since the clock was wrong then.
  void rewind(Time at) noexcept {
    const std::int64_t number = at.time_since_epoch() / kSpan;
    for (; newest_ > number && newest_ > 0; --newest_) spans_[index_of(newest_)] = {};
  }

  // The start of the newest period.
  Time newest() const noexcept { return Time(newest_ * kSpan); }

  // Stores counts for their own period, which add() has not reached yet.
  void restore(Time at, const MessageCounts& counts) noexcept {
    const std::int64_t number = at.time_since_epoch() / kSpan;
    if (number > newest_) move_to(number);
    if (holds(number)) spans_[index_of(number)] = counts;
  }

  // The counts of the period that contains `at`; zeros if they are unknown.
  MessageCounts of(Time at) const noexcept {
    const std::int64_t number = at.time_since_epoch() / kSpan;
    return holds(number) ? spans_[index_of(number)] : MessageCounts{};
  }

 private:
  bool holds(std::int64_t number) const noexcept {
    return number >= 0 && number <= newest_ && newest_ - number < static_cast<std::int64_t>(kSpans);
  }
  static std::size_t index_of(std::int64_t number) noexcept { return static_cast<std::size_t>(number) % kSpans; }
  void move_to(std::int64_t number) noexcept {
    if (number - newest_ >= static_cast<std::int64_t>(kSpans)) {
      spans_ = {};
    } else {
      for (std::int64_t each = newest_ + 1; each <= number; ++each) spans_[index_of(each)] = {};
    }
    newest_ = number;
  }

  std::array<MessageCounts, kSpans> spans_ = {};
  std::int64_t newest_ = 0;  // the number of the newest period, since 1970
};

class DecisionHistory {
 public:
  using Time = std::chrono::sys_seconds;
  using Minutes = CountRing<60, 90>;
  using Quarters = CountRing<15 * 60, 31 * 24 * 4>;

  // Adds the decisions since the last call, a second ago. A clock that jumps is not believed at once: decisions wait
  // until the clock has returned, or has kept its new time for ten minutes.
  void add(Time now, const MessageCounts& more) noexcept;

  const Minutes& minutes() const noexcept { return minutes_; }
  const Quarters& quarters() const noexcept { return quarters_; }

  // The text form of all periods that have a message: a line each of `seconds start delivered checked exempt refused`,
  // all of them numbers, after a first line that identifies the format. At most 200 kB. Throws std::bad_alloc.
  std::string text() const;

  // Loads such a text, including periods that begin after the present time, since the clock may be slow. Returns the
  // number of the first invalid line, counted from 1; that line and all lines after it are not loaded. Returns nothing
  // if all lines are valid.
  std::optional<std::size_t> restore(std::string_view text) noexcept;

  static constexpr std::string_view kFirstLine = "bloomgate history 1";

 private:
  bool believes(Time now) noexcept;

  Minutes minutes_;
  Quarters quarters_;
  MessageCounts waiting_ = {};
  Time last_ = {};            // the last believed time
  bool has_begun_ = false;    // whether a time was ever believed
  unsigned odd_seconds_ = 0;  // how many seconds the clock has been at its new time
};

}  // namespace bloomgate
