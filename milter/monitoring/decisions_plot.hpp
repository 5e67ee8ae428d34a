// The decisions of the last day as a picture, SVG for an HTML page: a bar for each quarter of an hour, or for each
// minute as long as the daemon runs for an hour and a half.
#pragma once

#include <string>

#include "milter/monitoring/minute_ring.hpp"

namespace bloomgate {

// A sentence instead, where no minute is over yet. Throws std::bad_alloc.
std::string decisions_plot(const MinuteRing& minutes);

}  // namespace bloomgate
