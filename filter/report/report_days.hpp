// The messages of a report over time: by day, and by hour for the picture. Days are those of this machine's local time.
// Pure. All throw std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "filter/html/page.hpp"
#include "filter/report/figures.hpp"

namespace bloomgate {

struct ReportDay {
  std::string date;  // "2026-11-20"
  OutcomeCounts outcomes = {};
};

// The latest days, at most kMostDays, including days without a message.
constexpr std::size_t kMostDays = 60;
std::vector<ReportDay> days_of(const Figures& figures);

// Messages over time. A bar is an hour or a day.
struct ReportBars {
  std::vector<DecisionBar> bars = {};
  // "06:00" if all hours are of one day, else "2026-11-20 06:00"; "2026-11-20"
  std::vector<std::string> labels = {};
  std::string_view unit = "hour";  // or "day"
  std::uint64_t left_out = 0;      // messages that are older than the first bar
};

// Bars for hours, if there are at most 48 of them, else for days.
ReportBars bars_of(const Figures& figures);

}  // namespace bloomgate
