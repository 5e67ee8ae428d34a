// What a daemon has counted, and how much of that is recent. Some rules use a share of the last hour or day: a fault
// that existed at the start, and no longer does, needs no action. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "milter/fields/signatures.hpp"

namespace bloomgate {

// The counts since the daemon's start, or within a period.
struct HealthCounts {
  std::uint64_t messages = 0;   // delivered or checked
  std::uint64_t delivered = 0;  // … with the verdict deliver
  std::uint64_t listed = 0;     // … from senders that a whitelist lists
  std::uint64_t internal_errors = 0;
  std::uint64_t slow = 0;  // decisions that took longer than kSlowSeconds
  std::uint64_t child_signed = 0;
  std::uint64_t deep_checks = 0;
  std::uint64_t failed_deep_checks = 0;
  std::uint64_t samples_spam = 0;
  std::uint64_t samples_ham = 0;
  std::uint64_t samples_unanswered = 0;
  std::uint64_t lost_log_lines = 0;
  std::uint64_t turned_away = 0;         // connections past max-connections
  std::uint64_t without_descriptor = 0;  // connections for which no descriptor was left
  std::uint64_t learned = 0;             // new pairs, and known ones that were used again
  std::uint64_t over_rate = 0;
  std::uint64_t over_exempt_rate = 0;
  std::array<std::uint64_t, kSignatureOutcomes> signatures = {};

  std::uint64_t of(SignatureOutcome outcome) const noexcept { return signatures[static_cast<std::size_t>(outcome)]; }
  HealthCounts& operator-=(const HealthCounts& before) noexcept;
  friend bool operator==(const HealthCounts&, const HealthCounts&) = default;
};

// A bound of the histogram of decisions.
inline constexpr double kSlowSeconds = 0.1;

class RecentCounts {
 public:
  // A minute is over; `since_start` are the counts since the start.
  void close_minute(const HealthCounts& since_start) noexcept;

  // How much of `since_start` falls into about the last hour, day or week: all of it if the daemon is younger.
  HealthCounts last_hour(const HealthCounts& since_start) const noexcept { return minutes_.recent(since_start); }
  HealthCounts last_day(const HealthCounts& since_start) const noexcept { return hours_.recent(since_start); }
  HealthCounts last_week(const HealthCounts& since_start) const noexcept { return days_.recent(since_start); }
  bool knows_a_week() const noexcept { return days_.is_full(); }

 private:
  // The counts at the ends of the last periods.
  template <std::size_t Count>
  class Ring {
   public:
    void close(const HealthCounts& since_start) noexcept { ring_[closed_++ % Count] = since_start; }
    bool is_full() const noexcept { return closed_ >= Count; }
    HealthCounts recent(HealthCounts since_start) const noexcept {
      if (is_full()) since_start -= ring_[closed_ % Count];
      return since_start;
    }

   private:
    std::array<HealthCounts, Count> ring_ = {};
    std::uint64_t closed_ = 0;
  };

  static constexpr std::size_t kMinutesOfHour = 60, kHoursOfDay = 24, kDaysOfWeek = 7;
  // The counts of an hour ago are the oldest of 61.
  Ring<kMinutesOfHour + 1> minutes_;
  Ring<kHoursOfDay + 1> hours_;
  Ring<kDaysOfWeek + 1> days_;
  std::uint64_t closed_ = 0;
};

}  // namespace bloomgate
