// Whether the socket for look-ups answers for what was learned. What was learned says who writes to whom, so it is
// asked only by those whom the mode of a unix socket lets in, unless the operator opens it. Pure; safe from any thread.
#pragma once

#include <string>

#include "config/daemon_options.hpp"

namespace bloomgate {

// `address` is that of the socket in use: until a restart the options may already name another one.
bool answers_for_learned(const SocketAddress& address, const DaemonOptions& options) noexcept;

// The same for an operator, one line. Empty if nothing is learned.
std::string learned_answers_text(const SocketAddress& address, const DaemonOptions& options);

}  // namespace bloomgate
