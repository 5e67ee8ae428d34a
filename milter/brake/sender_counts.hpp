// How much a sender sends: messages and different recipients in the last hour and in the last day, and the habit that
// it has shown in the weeks before. Says when it sends much more than that.
//
// Time goes by in halves of an hour. "The last hour" is the half that runs and the two before it, so 60 to 90 minutes,
// and "the last day" is the eight hours that run and the three times eight before: whatever the edges cut off would be
// too little. Habits are of weeks, which begin where Unix time does, on a Thursday.
//
// A plain value of bytes, which may be stored, and is on a machine of the same byte order; for one thread. Counting a
// message takes less than 1 µs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/hash/hash.hpp"
#include "milter/brake/distinct_count.hpp"

namespace bloomgate {

// Since the beginning of Unix time.
using HalfHours = std::uint32_t;
inline constexpr HalfHours kHalfHoursOfWeek = 7 * 48;

struct Traffic {
  std::uint32_t messages = 0;
  std::uint32_t recipients = 0;  // different ones, estimated

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// The traffic of the last periods, each of which has a number.
template <std::size_t Periods>
class Window {
 public:
  // From then on the period is `now`; what is no longer in the window is forgotten.
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

// What a sender may send in an hour, however little it has sent before. In a day it is ten times as much.
struct Floor {
  std::uint32_t messages = 60;
  std::uint32_t recipients = 30;
};

class SenderCounts {
 public:
  static constexpr std::uint32_t kHabits = 3;       // as much as its habit a sender may send at any time
  static constexpr std::uint32_t kHoursOfDay = 10;  // as many floors of an hour are that of a day

  SenderCounts() = default;  // none
  SenderCounts(KeyHash key, HalfHours now) noexcept : key_(key), last_(now) {}

  KeyHash key() const noexcept { return key_; }
  HalfHours last() const noexcept { return last_; }

  struct Rules {
    Floor floor = {};
    // Without it only the habit counts, and before there is one nothing does.
    bool has_floor = true;
    // All traffic becomes habit. Without it, only what is within the limits does: who sends too much once may not do it
    // again for that.
    bool is_observing = false;
  };

  // Counts a message to these recipients (hashes). Whether the sender sends too much with it: more than the larger one
  // of the floor and kHabits times its habit.
  bool count(HalfHours now, std::span<const std::uint64_t> recipients, const Rules& rules) noexcept;

  // Whether it has sent too much already.
  bool is_over(HalfHours now, const Rules& rules) const noexcept;

  // How often the same message may come within an hour: a sixth of the floor, or kHabits times the habit.
  std::uint32_t most_copies(HalfHours now, const Rules& rules) const noexcept;

  // How much would be lost with what is known of it: the messages of the last day, or those of a
  // day by its habit.
  std::uint64_t weight(HalfHours now) const noexcept;

  // Becomes another sender, which has sent all that the former one had, since who knows; and has no habit.
  void become(KeyHash key, HalfHours now) noexcept;

 private:
  static constexpr std::size_t kWeeks = 6;  // this one, which is no habit yet, and those before
  static constexpr HalfHours kHalfHoursOfPart = 16;

  // The most of a week, each as a logarithm, rounded down (level_of()).
  struct Habit {
    std::uint8_t hour_messages = 0;
    std::uint8_t hour_recipients = 0;
    std::uint8_t day_messages = 0;
    std::uint8_t day_recipients = 0;

    bool is_none() const noexcept { return hour_messages == 0; }
    void raise(const Habit& other) noexcept;
  };

  // What it may send.
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
