#include "filter/report/report_days.hpp"

#include <algorithm>

#include "filter/log/log_times.hpp"

namespace bloomgate {
namespace {

constexpr std::int64_t kMostHourBars = 48;
constexpr std::int64_t kHoursOfDay = 24;

DecisionBar bar_of(const OutcomeCounts& counts) noexcept {
  return {.delivered = counts[static_cast<std::size_t>(Outcome::deliver)],
          .checked = counts[static_cast<std::size_t>(Outcome::check)],
          .exempt = counts[static_cast<std::size_t>(Outcome::exempt)],
          .refused = counts[static_cast<std::size_t>(Outcome::refuse)]};
}

LogTime time_of(std::int64_t hour) {
  return LogTime(std::chrono::hours(hour));
}

OutcomeCounts counts_of(const Figures& figures, std::int64_t hour) {
  const auto found = figures.hours.find(hour);
  return found == figures.hours.end() ? OutcomeCounts{} : found->second;
}

}  // namespace

// Handles days of 23 and of 25 hours. A log may have a date of any year, so it does not read the days before the latest
// ones: the first day that it reads may lack its first hours, and is dropped.
std::vector<ReportDay> days_of(const Figures& figures) {
  std::vector<ReportDay> days;
  if (figures.hours.empty()) return days;
  const std::int64_t last = figures.hours.rbegin()->first;
  const std::int64_t first = std::max(figures.hours.begin()->first, last - std::int64_t{kMostDays} * kHoursOfDay);
  for (std::int64_t hour = first; hour <= last; ++hour) {
    std::string date = format_local_day(time_of(hour));
    if (days.empty() || days.back().date != date) days.push_back({.date = std::move(date)});
    const OutcomeCounts counts = counts_of(figures, hour);
    for (std::size_t i = 0; i < kOutcomes; ++i) days.back().outcomes[i] += counts[i];
  }
  if (days.size() > kMostDays) days.erase(days.begin(), days.end() - kMostDays);
  return days;
}

ReportBars bars_of(const Figures& figures) {
  ReportBars made;
  made.left_out = figures.messages;
  if (figures.hours.empty()) return made;
  const std::int64_t first = figures.hours.begin()->first;
  const std::int64_t last = figures.hours.rbegin()->first;
  const auto add = [&](std::string label, const OutcomeCounts& counts) {
    made.labels.push_back(std::move(label));
    made.bars.push_back(bar_of(counts));
    made.left_out -= made.bars.back().height();
  };
  if (last - first < kMostHourBars) {
    const bool is_one_day = format_local_day(time_of(first)) == format_local_day(time_of(last));
    for (std::int64_t hour = first; hour <= last; ++hour) {
      const LogTime time = time_of(hour);
      add(is_one_day ? format_local_clock(time) : format_local(time), counts_of(figures, hour));
    }
  } else {
    made.unit = "day";
    for (const ReportDay& day : days_of(figures)) add(day.date, day.outcomes);
  }
  return made;
}

}  // namespace bloomgate
