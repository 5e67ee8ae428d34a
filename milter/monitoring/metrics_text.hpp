// The daemon's figures in the text format of Prometheus: names, units and labels as
// https://prometheus.io/docs/practices/naming/ asks. Labels hold names of the configuration and words of closed sets,
// never a word of a message.
//
// The model and the text are prometheus-cpp's. The counting is not: its histogram takes a mutex for each observation,
// and its families look a map of labels up (tally.hpp).
#pragma once

#include <string>

#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// For the thread that calls Monitor::end_second(). Throws std::bad_alloc. Cost: two milliseconds for each whitelist at
// most.
std::string metrics_text(const Monitor& monitor);

}  // namespace bloomgate
