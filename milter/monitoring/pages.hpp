// Which page an address has: `/` for people, `/metrics` for Prometheus, `/needs-action` for programs, and none else.
#pragma once

#include "milter/monitoring/http_server.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

// `is_local`: only programs of this machine reach the server. Then the request must be for this machine, too
// (names_this_machine()); else the page leaves out the last decisions. Called by the server's thread. Throws
// std::bad_alloc.
HttpAnswer page(const Monitor& monitor, const HttpRequest& request, bool is_local);

}  // namespace bloomgate
