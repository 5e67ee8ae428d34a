// Which options a running daemon cannot change, so that they wait for its next start. A reload applies all others.
#pragma once

#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"

namespace bloomgate {

// Returns the names of those options that differ. An option that only matters at the start (allow-missing-whitelist) is
// not among them, since nothing waits for it.
std::vector<std::string_view> changed_restart_options(const DaemonOptions& in_use, const DaemonOptions& wanted);

}  // namespace bloomgate
