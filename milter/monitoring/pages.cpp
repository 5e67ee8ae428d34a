#include "milter/monitoring/pages.hpp"

#include "milter/monitoring/metrics_text.hpp"
#include "milter/monitoring/status_page.hpp"
#include "milter/serving/local_socket.hpp"

namespace bloomgate {

HttpAnswer page(const Monitor& monitor, const HttpRequest& request, bool is_local) {
  if (is_local && !names_this_machine(request.host)) {
    return {.status = 421, .body = "ask this address by number, or as localhost\n"};
  }
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  if (path == "/") return {.content_type = kPageContentType, .body = status_page(monitor, is_local)};
  if (path == "/metrics") return {.content_type = kMetricsContentType, .body = metrics_text(monitor)};
  return {.status = 404, .body = "there is no such page; / is for people, and /metrics for Prometheus\n"};
}

}  // namespace bloomgate
