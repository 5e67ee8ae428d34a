// The daemon as a whole: its parts, put together, and its life from the start to the end.
#pragma once

#include <string>
#include <vector>

#include "config/daemon_options.hpp"

namespace bloomgate {

// This machine's name for itself, used if neither the configuration nor the mail server gives one. "localhost" if it
// has none that can be in a header field.
std::string machine_name();

// Serves until it is told to stop, and then ends the process with the exit status. `arguments` are those of the command
// line, from which a reload reads the configuration again. Throws what keeps the daemon from starting, after it is in
// the log.
[[noreturn]] void run_daemon(const DaemonCommand& command, const std::vector<std::string>& arguments);

}  // namespace bloomgate
