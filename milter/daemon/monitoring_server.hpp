// Shows what the daemon does to those who ask at the address of the option `metrics`.
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
  // Answers at the address that `options.metrics` is, until the end of the object; `monitor` must outlive it. Throws
  // what ListeningSocket and HttpServer throw.
  MonitoringServer(const DaemonOptions& options, Monitor& monitor, const std::shared_ptr<spdlog::logger>& log);
  ~MonitoringServer();
  MonitoringServer(const MonitoringServer&) = delete;
  MonitoringServer& operator=(const MonitoringServer&) = delete;

 private:
  Monitor& monitor_;
  ListeningSocket socket_;
  HistoryFile history_;  // behind the socket: a daemon that is not the one that serves leaves the file alone
  std::optional<HttpServer> server_;
};

}  // namespace bloomgate
