// Maps an address to its page: `/` for people, `/metrics` for Prometheus, `/needs-action` for programs, and no other.
#pragma once

#include "milter/monitoring/http_server.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

// `is_local`: only programs of this machine can reach the server. Then the request must be meant for this machine, too
// (names_this_machine()). Otherwise the page omits the last decisions. Called by the server's thread. Throws
// std::bad_alloc.
HttpAnswer page(const Monitor& monitor, const HttpRequest& request, bool is_local);

}  // namespace bloomgate
