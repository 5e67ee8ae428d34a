// Shows what the daemon does, to clients that connect to the address of the option `metrics`.
#pragma once

#include <spdlog/fwd.h>

#include <functional>
#include <memory>
#include <optional>

#include "config/daemon_options.hpp"
#include "milter/daemon/history_file.hpp"
#include "milter/glue/listening_socket.hpp"
#include "milter/monitoring/http_server.hpp"
#include "milter/monitoring/monitor.hpp"

namespace bloomgate {

class MonitoringServer {
 public:
  // Answers at the address `options.metrics` until the object is destroyed; `monitor` must outlive it. Throws what
  // ListeningSocket and HttpServer throw.
  MonitoringServer(const DaemonOptions& options, Monitor& monitor, const std::shared_ptr<spdlog::logger>& log);
  ~MonitoringServer();
  MonitoringServer(const MonitoringServer&) = delete;
  MonitoringServer& operator=(const MonitoringServer&) = delete;

 private:
  Monitor& monitor_;
  ListeningSocket socket_;
  HistoryFile history_;  // after the socket: a daemon that cannot listen leaves the file unchanged
  std::optional<HttpServer> server_;
};

}  // namespace bloomgate
