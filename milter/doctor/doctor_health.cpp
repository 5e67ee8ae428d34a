// The findings from the table of rules (milter/health): about the configuration and the files from this process, about
// everything else from the running daemon.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "filter/base/json.hpp"
#include "milter/deep_check/http_exchange.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/health/file_facts.hpp"
#include "milter/health/rules.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr const char* kSubject = "metrics";
constexpr std::chrono::seconds kMetricsPatience{5};
// The answer may come from any program; this is more than the table can find.
constexpr std::size_t kMostFindings = 200;

Level level_of(std::string_view severity) noexcept {
  return severity == severity_name(Severity::notice) ? Level::warning : Level::problem;
}

bool has(const std::vector<DoctorFinding>& findings, std::string_view rule) {
  return std::ranges::any_of(findings, [rule](const DoctorFinding& each) { return each.subject == rule; });
}

// As a checker's address, so that the HTTP client for checkers can talk to the daemon.
DeepCheckServer http_server_at(const SocketAddress& address) {
  if (address.family == SocketAddress::Family::unix_path) return {.url = "", .address = address};
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return {.url = fmt::format("http://{}:{}", is_ipv6 ? "[" + address.host + "]" : address.host, address.port),
          .address = {}};
}

// Nothing if the text is not a daemon's.
std::optional<std::vector<DoctorFinding>> read_findings(std::string_view text) try {
  const Json all = Json::parse(text);
  if (!all.is_array() || all.elements().size() > kMostFindings) return std::nullopt;
  std::vector<DoctorFinding> findings;
  for (const Json& each : all.elements()) {
    const auto text_of = [&each](const char* key) { return std::string(each.at(key).text().value_or("")); };
    if (text_of("rule").empty() || text_of("what").empty()) return std::nullopt;
    findings.push_back({level_of(text_of("severity")), text_of("rule"), text_of("what"), text_of("how")});
  }
  return findings;
} catch (const JsonError&) {
  return std::nullopt;
}

}  // namespace

void examine_health(const DaemonCommand& command, std::vector<DoctorFinding>& findings) {
  for (const HealthFinding& each : findings_of(facts_of_files(command))) {
    findings.push_back({level_of(severity_name(each.severity)), std::string(each.rule), each.what, each.how});
  }
}

void examine_daemons_findings(std::string_view text, std::vector<DoctorFinding>& findings) {
  auto found = read_findings(text);
  if (!found) {
    findings.push_back({Level::problem, kSubject, "what answers at the address of metrics is not bloomgate-milter",
                        "see what listens there (ss -lxtp), or set metrics to another address, then restart"});
    return;
  }
  const std::size_t before = findings.size();
  for (DoctorFinding& each : *found) {
    if (!has(findings, each.subject)) findings.push_back(std::move(each));
  }
  if (findings.size() == before) findings.push_back({Level::ok, kSubject, "the daemon has found nothing else"});
}

void examine_daemons_findings(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  if (!options.metrics) {
    findings.push_back({Level::warning, kSubject,
                        "not set, so the doctor cannot ask the daemon for what only it knows, such as keys that cannot "
                        "be looked up, or delivered mail that a checker calls spam",
                        "set metrics = /run/bloomgate/metrics.sock, then: systemctl restart bloomgate-milter"});
    return;
  }
  const std::string name = to_string(*options.metrics);
  std::string fault;
  try {
    const HttpReply reply = http_get(http_server_at(*options.metrics), kNeedsActionPath,
                                     std::chrono::steady_clock::now() + kMetricsPatience);
    if (reply.status == 200) {
      examine_daemons_findings(reply.body, findings);
      return;
    }
    fault = fmt::format("status {}", reply.status);
  } catch (const CheckerError& error) {
    fault = error.what();
  }
  findings.push_back({Level::problem, kSubject, "the daemon's findings at " + name + " cannot be read: " + fault,
                      "run this as root, on the machine of the daemon; the daemon's log says whether it shows them "
                      "(an option that has changed waits for a restart)"});
}

}  // namespace bloomgate
