// `bloomgate-milter --reload`: has the daemon reload, and tells what became of it.
#pragma once

#include "config/daemon_options.hpp"

namespace bloomgate {

// Returns the exit status. A faulty configuration is refused here, where the file and the line can be told, and the
// daemon is not asked. Throws BloomgateError.
int reload(const DaemonCommand& command);

}  // namespace bloomgate
