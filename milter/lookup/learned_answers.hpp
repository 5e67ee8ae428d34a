// Whether the look-up socket answers about learned entries. These reveal who writes to whom. So unless the operator
// allows more, only programs that the mode of a unix socket admits may ask. Pure; safe from any thread.
#pragma once

#include <string>

#include "config/daemon_options.hpp"

namespace bloomgate {

// `address` is that of the socket in use: until a restart the options may already name another one.
bool answers_for_learned(const SocketAddress& address, const DaemonOptions& options) noexcept;

// The same as one line for an operator. Empty if nothing is learned.
std::string learned_answers_text(const SocketAddress& address, const DaemonOptions& options);

}  // namespace bloomgate
