#include "milter/brake/sender_counts.hpp"

#include <algorithm>
#include <cmath>

namespace bloomgate {
namespace {

constexpr std::uint32_t kUnlimited = UINT32_MAX;
constexpr std::uint32_t kCopiesOfFloor = 6;
constexpr double kLevelsOfOctave = 12;

// The level of 0 is 0, and that of any other amount is not. 255 is about 2.5 million.
std::uint8_t level_of(std::uint32_t amount) noexcept {
  const double level = kLevelsOfOctave * std::log2(1.0 + amount);
  return static_cast<std::uint8_t>(std::min(level, 255.0));
}

// The smallest amount of that level, so a sender that sends exactly its habit is not held to less.
std::uint32_t amount_of(std::uint8_t level) noexcept {
  return static_cast<std::uint32_t>(std::ceil(std::exp2(level / kLevelsOfOctave) - 1.0));
}

std::uint32_t times(std::uint32_t amount, std::uint32_t factor) noexcept {
  return amount > kUnlimited / factor ? kUnlimited : amount * factor;
}

bool is_more(const Traffic& traffic, const Traffic& limit) noexcept {
  return traffic.messages > limit.messages || traffic.recipients > limit.recipients;
}

Traffic at_most(const Traffic& traffic, const Traffic& limit) noexcept {
  return {std::min(traffic.messages, limit.messages), std::min(traffic.recipients, limit.recipients)};
}

}  // namespace

void SenderCounts::Habit::raise(const Habit& other) noexcept {
  hour_messages = std::max(hour_messages, other.hour_messages);
  hour_recipients = std::max(hour_recipients, other.hour_recipients);
  day_messages = std::max(day_messages, other.day_messages);
  day_recipients = std::max(day_recipients, other.day_recipients);
}

// After the clock was set back, time stands still until it has caught up.
void SenderCounts::advance(HalfHours now) noexcept {
  if (now <= last_) return;
  hour_.advance(last_, now);
  day_.advance(last_ / kHalfHoursOfPart, now / kHalfHoursOfPart);
  const HalfHours week = last_ / kHalfHoursOfWeek;
  const HalfHours passed = now / kHalfHoursOfWeek - week;
  for (HalfHours i = 1; i <= passed && i <= kWeeks; ++i) weeks_[(week + i) % kWeeks] = {};
  last_ = now;
}

SenderCounts::Habit SenderCounts::habit() const noexcept {
  Habit most;
  for (std::size_t week = 0; week < kWeeks; ++week) {
    if (week != last_ / kHalfHoursOfWeek % kWeeks) most.raise(weeks_[week]);
  }
  return most;
}

SenderCounts::Limits SenderCounts::limits(const Rules& rules) const noexcept {
  const Habit known = habit();
  if (!rules.has_floor && known.is_none()) return {{kUnlimited, kUnlimited}, {kUnlimited, kUnlimited}};
  const auto limit = [](std::uint8_t level, std::uint32_t floor) {
    return std::max(floor, times(amount_of(level), kHabits));
  };
  const Floor& floor = rules.floor;
  return {{limit(known.hour_messages, floor.messages), limit(known.hour_recipients, floor.recipients)},
          {limit(known.day_messages, times(floor.messages, kHoursOfDay)),
           limit(known.day_recipients, times(floor.recipients, kHoursOfDay))}};
}

bool SenderCounts::count(HalfHours now, std::span<const std::uint64_t> recipients, const Rules& rules) noexcept {
  advance(now);
  hour_.add(last_, recipients);
  day_.add(last_ / kHalfHoursOfPart, recipients);
  const Limits most = limits(rules);
  const Traffic hour = hour_.traffic(), day = day_.traffic();
  const Traffic usual_hour = rules.is_observing ? hour : at_most(hour, most.hour);
  const Traffic usual_day = rules.is_observing ? day : at_most(day, most.day);
  weeks_[last_ / kHalfHoursOfWeek % kWeeks].raise({level_of(usual_hour.messages), level_of(usual_hour.recipients),
                                                   level_of(usual_day.messages), level_of(usual_day.recipients)});
  return is_more(hour, most.hour) || is_more(day, most.day);
}

bool SenderCounts::is_over(HalfHours now, const Rules& rules) const noexcept {
  SenderCounts then = *this;
  then.advance(now);
  const Limits most = then.limits(rules);
  return is_more(then.hour_.traffic(), most.hour) || is_more(then.day_.traffic(), most.day);
}

std::uint32_t SenderCounts::most_copies(HalfHours now, const Rules& rules) const noexcept {
  SenderCounts then = *this;
  then.advance(now);
  Rules of_copies = rules;
  of_copies.floor.messages = std::max(rules.floor.messages / kCopiesOfFloor, 1U);
  return then.limits(of_copies).hour.messages;
}

std::uint64_t SenderCounts::weight(HalfHours now) const noexcept {
  SenderCounts then = *this;
  then.advance(now);
  Habit all = then.habit();
  all.raise(then.weeks_[then.last_ / kHalfHoursOfWeek % kWeeks]);
  return std::max(then.day_.traffic().messages, amount_of(all.day_messages));
}

void SenderCounts::become(KeyHash key, HalfHours now) noexcept {
  advance(now);
  key_ = key;
  weeks_ = {};
}

}  // namespace bloomgate
