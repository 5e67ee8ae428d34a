#include "milter/monitoring/pages.hpp"

#include <algorithm>
#include <utility>

#include "milter/health/rules.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/metrics_text.hpp"
#include "milter/monitoring/status_figures.hpp"
#include "milter/monitoring/status_page.hpp"

namespace bloomgate {
namespace {

HttpAnswer json_answer(const Json& json, unsigned status = 200) {
  return {.status = status, .content_type = kJsonContentType, .body = json.dump(2) + "\n"};
}

// What an operator has chosen in the configuration is no failure, however severe its rule: a service that is restarted
// because of it would fail again.
bool is_failure(const HealthFinding& finding) {
  return finding.severity == Severity::page &&
         std::ranges::find(settings_rules(), finding.rule, &Rule::name) == settings_rules().end();
}

HttpAnswer health(const Monitor& monitor, bool with_senders) {
  std::vector<HealthFinding> failing = needs_action(monitor);
  std::erase_if(failing, [](const HealthFinding& each) { return !is_failure(each); });
  const bool is_well = failing.empty();
  return json_answer({{"status", is_well ? "ok" : "failing"}, {"failing", findings_json(failing, with_senders)}},
                     is_well ? 200 : 503);
}

bool asks_for(std::string_view query, std::string_view wanted) {
  while (!query.empty()) {
    if (next_part(query, '&') == wanted) return true;
  }
  return false;
}

}  // namespace

HttpAnswer page(const Monitor& monitor, const HttpRequest& request, bool is_local) {
  if (auto refusal = foreign_host_refusal(request, is_local)) return *std::move(refusal);
  std::string_view query = request.target;
  const std::string_view path = next_part(query, '?');
  if (path == "/") {
    const bool refreshes = !asks_for(query, kWithoutRefresh);
    return {.content_type = kPageContentType, .body = status_page(monitor, is_local, refreshes)};
  }
  if (path == kReasonsPath) return {.content_type = kPageContentType, .body = reasons_page()};
  if (path == "/metrics") return {.content_type = kMetricsContentType, .body = metrics_text(monitor)};
  if (path == kNeedsActionPath) return json_answer(findings_json(needs_action(monitor), is_local));
  if (path == "/health") return health(monitor, is_local);
  if (path == "/status.json") return json_answer(status_json(monitor, is_local));
  return http_refusal(404,
                      "there is no such page; / is for people, /metrics for Prometheus, and /status.json, /health and "
                      "/needs-action for programs");
}

}  // namespace bloomgate
