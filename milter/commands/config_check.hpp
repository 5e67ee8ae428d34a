// `bloomgate-milter --check-config`: whether the daemon could start with a configuration, and what of it needs action.
#pragma once

#include <iosfwd>

#include "config/daemon_options.hpp"

namespace bloomgate {

// Writes what it finds for a person. Throws BloomgateError for what the daemon would refuse.
void check_config(const DaemonCommand& command, std::ostream& out);

}  // namespace bloomgate
