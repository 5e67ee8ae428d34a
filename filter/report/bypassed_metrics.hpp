// The mail that bypassed a milter, in Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/): the daemon cannot count the sessions in which nothing
// asked it, so these figures are made of the mail server's log. Throws std::bad_alloc.
#pragma once

#include <string>

#include "filter/report/log_reading.hpp"

namespace bloomgate {

// `now` shows how old the figures are: a collector reads them from a file, which stays if nothing writes it any longer.
// The number of lines shows that the log was not empty.
std::string bypassed_metrics(const Figures& figures, const ReadCounts& counts, LogTime now);

}  // namespace bloomgate
