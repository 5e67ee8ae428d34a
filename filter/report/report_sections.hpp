// What a report says, in sections: one content for the text and for the page in HTML. Pure; texts of the log are
// printable ASCII in it. All throw std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "filter/html/page.hpp"
#include "filter/report/log_reading.hpp"

namespace bloomgate {

struct ReportColumn {
  std::string name;
  bool is_number = false;
};

// A figure that stands out. `kind` is the name of an outcome, or empty.
struct ReportFact {
  std::string value;
  std::string caption;
  std::string_view kind = {};
};

struct ReportSection {
  std::string title;
  std::vector<ReportFact> facts = {};
  std::vector<ReportColumn> columns = {};
  std::vector<std::vector<std::string>> rows = {};  // a cell for each column
  std::vector<std::string> notes = {};              // sentences below the table
  bool needs_action = false;
};

// Messages over time. A bar is an hour, or a day of this machine's own time.
struct ReportBars {
  std::vector<DecisionBar> bars = {};
  std::vector<std::string> labels = {};  // "06:00", "2026-11-20"
  std::string_view unit = "hour";        // or "day"
  std::uint64_t left_out = 0;            // messages that are older than the first bar
};

// At most 48 bars for hours, and 60 for days: the latest.
ReportBars bars_of(const Figures& figures);

// "2026-11-20 00:00 to 2026-11-20 23:59", and what was read.
std::vector<std::string> scope_of(const Figures& figures, const ReadCounts& counts);

// Those that have something to say. `most` is how many rows a table of domains or warnings has.
std::vector<ReportSection> sections_of(const Figures& figures, std::size_t most);

}  // namespace bloomgate
