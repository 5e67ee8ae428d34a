// The content of a report, in sections: the same for the text and for the page in HTML. Pure; texts of the log are
// printable ASCII in it. All throw std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "filter/report/log_reading.hpp"

namespace bloomgate {

struct ReportColumn {
  std::string name;
  bool is_number = false;
};

// A prominent figure. `kind` is the name of an outcome, or empty.
struct ReportFact {
  std::string value;
  std::string caption;
  std::string_view kind = {};
};

struct ReportSection {
  std::string title;
  std::vector<ReportFact> facts = {};
  std::string caption = {};  // of the table; if empty, "Messages by" and the name of the first column
  std::vector<ReportColumn> columns = {};
  std::size_t name_column = 0;                      // the column with the subject of a row
  std::vector<std::vector<std::string>> rows = {};  // a cell for each column
  std::vector<std::string> notes = {};              // sentences below the table
  bool needs_action = false;
};

// "2026-11-20 00:00 to 2026-11-20 23:59", and what was read.
std::vector<std::string> scope_of(const Figures& figures, const ReadCounts& counts);

// The sections that are not empty. `most` is the largest number of rows in a table of domains or warnings.
std::vector<ReportSection> sections_of(const Figures& figures, std::size_t most);

}  // namespace bloomgate
