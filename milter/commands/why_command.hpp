// `bloomgate-milter why QUEUE-ID|ADDRESS`: why messages were treated so, from the daemon's log. It works beside any
// daemon that runs. Called by main.cpp.
#pragma once

#include <istream>
#include <ostream>

#include "config/daemon_options.hpp"

namespace bloomgate {

// Reads the named logs, where `-` is `standard_input`; without names the usual files of syslog, and the journal if
// these do not have the message. Returns the exit status: 1 if no message was found. Throws
// BloomgateError{cannot_open, cannot_read, bad_input} for a named log.
int why(const DaemonCommand& command, std::istream& standard_input, std::ostream& out);

}  // namespace bloomgate
