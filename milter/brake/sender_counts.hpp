// How much a sender sends: messages and different recipients in the last hour and in the last day, and the usual volume
// (habit) of the weeks before. Reports when the sender sends much more than that.
//
// Time is counted in half hours. "The last hour" is the current half hour and the two before it, so 60 to 90 minutes.
// "The last day" is the current period of eight hours and the three before it. With fewer periods, the sums could cover
// less than an hour or a day. Habits are kept by week; weeks begin where Unix time does, on a Thursday.
//
// A plain value of bytes, which may be stored and read on a machine of the same byte order; for one thread. Counting a
// message takes less than 1 µs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/hash/hash.hpp"
#include "milter/brake/distinct_count.hpp"

namespace bloomgate {

// Half hours since the beginning of Unix time.
using HalfHours = std::uint32_t;
inline constexpr HalfHours kHalfHoursOfWeek = 7 * 48;

struct Traffic {
  std::uint32_t messages = 0;
  std::uint32_t recipients = 0;  // the estimated number of different ones

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// The traffic of the last periods. Periods are numbered.
template <std::size_t Periods>
class Window {
 public:
  // Makes `now` the current period, and forgets the periods that have left the window. `last` was the current period
  // before.
  void advance(std::uint32_t last, std::uint32_t now) noexcept {
    const std::uint32_t passed = now - last;
    for (std::uint32_t i = 1; i <= passed && i <= Periods; ++i) {
      messages_[(last + i) % Periods] = 0;
      recipients_[(last + i) % Periods] = {};
    }
  }

  void add(std::uint32_t now, std::span<const std::uint64_t> recipients) noexcept {
    std::uint32_t& messages = messages_[now % Periods];
    if (messages != UINT32_MAX / Periods) ++messages;
    for (const std::uint64_t hash : recipients) recipients_[now % Periods].add(hash);
  }

  Traffic traffic() const noexcept {
    Traffic sum;
    DistinctCount all;
    for (std::size_t i = 0; i < Periods; ++i) {
      sum.messages += messages_[i];
      all.merge(recipients_[i]);
    }
    sum.recipients = static_cast<std::uint32_t>(all.estimate());
    return sum;
  }

 private:
  std::array<std::uint32_t, Periods> messages_ = {};
  std::array<DistinctCount, Periods> recipients_ = {};
};

// What a sender may send in an hour, however little it has sent before. The limit for a day is ten times as much.
struct Floor {
  std::uint32_t messages = 60;
  std::uint32_t recipients = 30;
};

class SenderCounts {
 public:
  static constexpr std::uint32_t kHabits = 3;       // how many times its habit a sender may always send
  static constexpr std::uint32_t kHoursOfDay = 10;  // the floor of a day, in floors of an hour

  SenderCounts() = default;  // no sender
  SenderCounts(KeyHash key, HalfHours now) noexcept : key_(key), last_(now) {}

  KeyHash key() const noexcept { return key_; }
  HalfHours last() const noexcept { return last_; }

  struct Rules {
    Floor floor = {};
    // If false, only the habit counts, and a sender without a habit has no limit.
    bool has_floor = true;
    // If true, all traffic becomes part of the habit. If false, only traffic within the limits does: a sender that once
    // sent too much does not earn a higher limit by that.
    bool is_observing = false;
  };

  // Counts a message to these recipients (hashes). Returns whether the sender now exceeds the larger one of the floor
  // and kHabits times its habit.
  bool count(HalfHours now, std::span<const std::uint64_t> recipients, const Rules& rules) noexcept;

  // Whether the sender has already sent too much.
  bool is_over(HalfHours now, const Rules& rules) const noexcept;

  // How often the same message may come within an hour: a sixth of the floor, or kHabits times the habit, if that is
  // more.
  std::uint32_t most_copies(HalfHours now, const Rules& rules) const noexcept;

  // How much would be lost if this sender were forgotten: the larger number of the messages of the last day and those
  // of a day by its habit.
  std::uint64_t weight(HalfHours now) const noexcept;

  // Turns this into the counts of another sender, with no habit. It keeps the former sender's recent traffic, since how
  // much of it is the new sender's is unknown.
  void become(KeyHash key, HalfHours now) noexcept;

 private:
  static constexpr std::size_t kWeeks = 6;  // the current week, which is no habit yet, and the weeks before
  static constexpr HalfHours kHalfHoursOfPart = 16;

  // The maxima of a week, each as a logarithm, rounded down (level_of()).
  struct Habit {
    std::uint8_t hour_messages = 0;
    std::uint8_t hour_recipients = 0;
    std::uint8_t day_messages = 0;
    std::uint8_t day_recipients = 0;

    bool is_none() const noexcept { return hour_messages == 0; }
    void raise(const Habit& other) noexcept;
  };

  // What the sender may send.
  struct Limits {
    Traffic hour;
    Traffic day;
  };

  void advance(HalfHours now) noexcept;
  Habit habit() const noexcept;
  Limits limits(const Rules& rules) const noexcept;

  KeyHash key_ = 0;
  HalfHours last_ = 0;
  Window<3> hour_;
  Window<4> day_;
  std::array<Habit, kWeeks> weeks_ = {};
};
static_assert(sizeof(SenderCounts) == 232);

}  // namespace bloomgate
