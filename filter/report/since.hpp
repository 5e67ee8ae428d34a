// `--since`: from when on lines of a log count.
#pragma once

#include <string>

#include "filter/log/log_times.hpp"

namespace bloomgate {

// "30m", "24h", "7d", "2w": so long before `now`. "2026-11-20", "2026-11-20 06:00", "2026-11-20 06:00:30": this
// machine's own time. Throws UsageError.
LogTime parse_since(const std::string& text, LogTime now);

}  // namespace bloomgate
