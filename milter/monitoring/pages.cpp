#include "milter/monitoring/pages.hpp"

#include <utility>

#include "milter/health/rules.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/metrics_text.hpp"
#include "milter/monitoring/status_page.hpp"

namespace bloomgate {

HttpAnswer page(const Monitor& monitor, const HttpRequest& request, bool is_local) {
  if (auto refusal = foreign_host_refusal(request, is_local)) return *std::move(refusal);
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  if (path == "/") return {.content_type = kPageContentType, .body = status_page(monitor, is_local)};
  if (path == "/metrics") return {.content_type = kMetricsContentType, .body = metrics_text(monitor)};
  if (path == kNeedsActionPath) {
    return {.content_type = kJsonContentType, .body = needs_action_json(monitor, is_local)};
  }
  return http_refusal(
      404, "there is no such page; / is for people, /metrics for Prometheus, and /needs-action for programs");
}

}  // namespace bloomgate
