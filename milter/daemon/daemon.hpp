// The daemon as a whole: assembles its parts, and runs from the start to the end.
#pragma once

#include <string>
#include <vector>

#include "config/daemon_options.hpp"

namespace bloomgate {

// This machine's name for itself, used if neither the configuration nor the mail server has one. "localhost" if the
// machine has no name that a header field can hold.
std::string machine_name();

// Serves until the process is told to stop, and then ends the process with the exit status. `arguments` are those of
// the command line; a reload uses them to read the configuration again. If the daemon cannot start, throws the error
// after it has been logged.
[[noreturn]] void run_daemon(const DaemonCommand& command, const std::vector<std::string>& arguments);

}  // namespace bloomgate
