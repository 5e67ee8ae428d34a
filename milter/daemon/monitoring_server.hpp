// Shows what the daemon does to those who ask at the address of the option `metrics`.
#pragma once

#include <spdlog/fwd.h>

#include <functional>
#include <memory>

#include "config/socket_address.hpp"
#include "milter/glue/listening_socket.hpp"
#include "milter/monitoring/http_server.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

class MonitoringServer {
 public:
  // Answers until the end of the object; `monitor` must outlive it. Throws what ListeningSocket and HttpServer throw.
  MonitoringServer(const SocketAddress& address, Monitor& monitor, const std::shared_ptr<spdlog::logger>& log);

 private:
  ListeningSocket socket_;
  HttpServer server_;
};

}  // namespace bloomgate
