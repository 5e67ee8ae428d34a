// Asks name servers a question by ourselves, past libunbound's cache and its patience: whether any of them answers at
// all. A port that refuses shows at once, since the sockets are connected. Safe from any thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "config/name_server.hpp"

namespace bloomgate {

enum class ServersState {
  answering,    // one of them said something, if only that there is no such name
  silent,       // none said anything in time, or all said SERVFAIL
  unreachable,  // each one's port or network refuses
};

// Asks all `servers` for the SOA record of `com`, which no sender of mail can slow down, and for the TXT record of
// `name` if that is not empty. Waits up to `patience`, sends twice, and returns before that if `stop` is readable.
// Throws std::bad_alloc.
ServersState probe_servers(const std::vector<NameServer>& servers, const std::string& name,
                           std::chrono::milliseconds patience, int stop);

}  // namespace bloomgate
