// The mail that bypassed a milter, in Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/): the daemon cannot count the sessions in which nothing
// asked it, so these figures are made of the mail server's log. Throws std::bad_alloc.
#pragma once

#include <string>

#include "filter/cli/report/log_reading.hpp"

namespace bloomgate::cli {

// `now` tells how old the figures are: they are read from a file, which stays when nothing writes it any longer. The
// lines that were read are told as well: an empty log says nothing of any mail.
std::string bypassed_metrics(const Figures& figures, const ReadCounts& counts, LogTime now);

}  // namespace bloomgate::cli
