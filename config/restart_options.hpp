// Which options a running daemon cannot take in, so that they wait for its next start. All others are taken in by a
// reload.
#pragma once

#include <string_view>
#include <vector>

#include "config/daemon_options.hpp"

namespace bloomgate {

// The names of those that differ. An option that matters at the start only (allow-missing-whitelist) is none of them:
// nothing waits for it.
std::vector<std::string_view> changed_restart_options(const DaemonOptions& in_use, const DaemonOptions& wanted);

}  // namespace bloomgate
