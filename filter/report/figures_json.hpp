// The figures as JSON, for scripts. Times are seconds, and times of day are RFC 3339 in UTC. Throws std::bad_alloc.
#pragma once

#include <string>

#include "filter/report/log_reading.hpp"

namespace bloomgate {

std::string figures_json(const Figures& figures, const ReadCounts& counts, std::size_t most);

}  // namespace bloomgate
