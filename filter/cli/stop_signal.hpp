// Ctrl-C, SIGTERM and the loss of the terminal as a flag, so that long work ends in order and removes its temporary
// files.
#pragma once

#include <atomic>

namespace bloomgate::cli {

// The flag that SIGINT, SIGTERM and SIGHUP set. The first call installs the handlers; a second signal ends the program
// at once. Call it from the main thread, before others start.
const std::atomic<bool>& stop_flag();

// The signal that set the flag, or 0.
int stop_signal() noexcept;

}  // namespace bloomgate::cli
