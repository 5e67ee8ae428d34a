#include "milter/daemon/monitoring_server.hpp"

#include <sys/types.h>

#include <chrono>
#include <string>

#include "filter/base/printable.hpp"
#include "milter/glue/connection.hpp"
#include "milter/learning/logger.hpp"
#include "milter/monitoring/pages.hpp"
#include "milter/serving/local_socket.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kModeOfFigures = 0660;  // of a unix socket: for the daemon's group

DecisionHistory::Time now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

MonitoringServer::MonitoringServer(const DaemonOptions& options, Monitor& monitor,
                                   const std::shared_ptr<spdlog::logger>& log)
    : monitor_(monitor),
      socket_(*options.metrics, kModeOfFigures, ""),
      history_(options.history_file, monitor.history(), now(),
               [log](const std::string& what) { log->warn("{}", printable(what)); }) {
  server_.emplace(socket_.descriptor(),
                  HttpServer::Handlers{
                      .reply = [&monitor, is_local = is_local_socket(socket_.descriptor())](
                                   const HttpRequest& request) { return page(monitor, request, is_local); },
                      .tick =
                          [this] {
                            monitor_.end_second();
                            history_.tick(now());
                          },
                      .interval = std::chrono::seconds(1),
                      .on_fault = [log](const std::string& what) { log_error(*log, "metrics: " + printable(what)); }});
  log->info("figures and status page at {}", printable(to_string(*options.metrics)));
  if (is_local_socket(socket_.descriptor())) return;
  log->warn(
      "metrics: {} can be reached from other machines: who reaches it may read how much mail comes and how it is "
      "decided, so let a firewall say who may, or use 127.0.0.1; the last decisions are not shown there",
      printable(to_string(*options.metrics)));
}

// The decisions of the last second belong to the history, too.
MonitoringServer::~MonitoringServer() {
  server_.reset();
  monitor_.end_second();
}

}  // namespace bloomgate
