// The daemon's figures in the text format of Prometheus, with names, units and labels as
// https://prometheus.io/docs/practices/naming/ requires. Labels contain names from the configuration and words of fixed
// sets, never a word of a message.
//
// prometheus-cpp provides the data model and the text. It does not do the counting: its histogram locks a mutex for
// each observation, and its families look up a map of labels (tally.hpp).
#pragma once

#include <string>

#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// For the thread that calls Monitor::end_second(). Throws std::bad_alloc. Cost: at most two milliseconds for each
// whitelist.
std::string metrics_text(const Monitor& monitor);

}  // namespace bloomgate
