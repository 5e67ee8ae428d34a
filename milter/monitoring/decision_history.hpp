// How many messages were decided how: in each of the last 90 minutes, and in each quarter of an hour of the last 31
// days. The charts of the status page are made of it, and a text in which it outlives the daemon. It is made from
// counts that only grow, once a second, so messages pay nothing for it. Used by one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

// Messages since the start of the daemon, or of a span of time.
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

// The last kSpans spans of so many seconds, which begin at whole multiples of them since 1970 (UTC).
template <std::int64_t kSeconds, std::size_t kSpans>
class CountRing {
 public:
  using Time = std::chrono::sys_seconds;
  static constexpr std::chrono::seconds kSpan{kSeconds};
  static constexpr std::size_t kCount = kSpans;

  // A time before the newest span counts for that one.
  void add(Time at, const MessageCounts& more) noexcept {
    const std::int64_t number = at.time_since_epoch() / kSpan;
    if (number > newest_) move_to(number);
    spans_[index_of(newest_)] += more;
  }

  // What was counted for spans behind that of `at` was counted by a wrong clock, and goes.
  void rewind(Time at) noexcept {
    const std::int64_t number = at.time_since_epoch() / kSpan;
    for (; newest_ > number && newest_ > 0; --newest_) spans_[index_of(newest_)] = {};
  }

  // The start of the newest span.
  Time newest() const noexcept { return Time(newest_ * kSpan); }

  // Puts what was kept into its own span, which add() has not reached yet.
  void restore(Time at, const MessageCounts& counts) noexcept {
    const std::int64_t number = at.time_since_epoch() / kSpan;
    if (number > newest_) move_to(number);
    if (holds(number)) spans_[index_of(number)] = counts;
  }

  // Of the span in which `at` lies; zeros where nothing is known of it.
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
  std::int64_t newest_ = 0;  // the number of the span, since 1970
};

class DecisionHistory {
 public:
  using Time = std::chrono::sys_seconds;
  using Minutes = CountRing<60, 90>;
  using Quarters = CountRing<15 * 60, 31 * 24 * 4>;

  // Those were decided since the last call, a second ago. A clock that leaps is not believed at once: what is decided
  // meanwhile waits until it has come back, or has stayed where it leapt to for ten minutes.
  void add(Time now, const MessageCounts& more) noexcept;

  const Minutes& minutes() const noexcept { return minutes_; }
  const Quarters& quarters() const noexcept { return quarters_; }

  // Of all spans that have a message: a line each of `seconds start delivered checked exempt refused`, all of them
  // numbers, under a first line that says what it is. At most 200 kB. Throws std::bad_alloc.
  std::string text() const;

  // Takes in such a text, also spans that begin past the present time: the clock may be behind. Returns the number of
  // the first line that is wrong, counted from 1, of which and behind which nothing is taken in; nothing if all is
  // well.
  std::optional<std::size_t> restore(std::string_view text) noexcept;

  static constexpr std::string_view kFirstLine = "bloomgate history 1";

 private:
  bool believes(Time now) noexcept;

  Minutes minutes_;
  Quarters quarters_;
  MessageCounts waiting_ = {};
  Time last_ = {};            // that was believed
  bool has_begun_ = false;    // a time was believed
  unsigned odd_seconds_ = 0;  // for which the clock is where it has leapt to
};

}  // namespace bloomgate
