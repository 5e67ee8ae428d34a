// A report as text for a terminal or a mail, as one page in HTML, and as figures for Prometheus. Pure. All throw
// std::bad_alloc.
#pragma once

#include <string>
#include <vector>

#include "filter/report/log_reading.hpp"
#include "filter/report/report_days.hpp"
#include "filter/report/report_sections.hpp"

namespace bloomgate {

struct ReportContent {
  std::vector<std::string> scope;
  ReportBars bars;
  std::vector<ReportSection> sections;
};

std::string report_text(const ReportContent& content);
std::string report_html(const ReportContent& content);

// The mail that bypassed a milter, in Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/). The daemon cannot count sessions in which it was not
// asked, so these figures come from the mail server's log.
// `now` shows how old the figures are: a collector reads them from a file, which stays if it is no longer written.
// The number of lines shows that the log was not empty.
std::string bypassed_metrics(const Figures& figures, const ReadCounts& counts, LogTime now);

}  // namespace bloomgate
