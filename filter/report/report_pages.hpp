// A report as text for a terminal or a mail, and as one page in HTML. Pure. All throw std::bad_alloc.
#pragma once

#include <string>
#include <vector>

#include "filter/report/report_sections.hpp"

namespace bloomgate {

struct ReportContent {
  std::vector<std::string> scope;
  ReportBars bars;
  std::vector<ReportSection> sections;
};

std::string report_text(const ReportContent& content);
std::string report_html(const ReportContent& content);

}  // namespace bloomgate
