// Whether a configured deeper check answers at all; it gets no message. For the doctor; safe from any thread.
#pragma once

#include <chrono>
#include <string>

#include "config/deep_check_options.hpp"

namespace bloomgate {

// Empty if it answers in time (rspamd: GET /ping, spamd: PING); else what is wrong, in printable ASCII, without the
// server's name. Throws std::bad_alloc.
std::string reach(const DeepCheckServer& server, std::chrono::milliseconds timeout);

}  // namespace bloomgate
