#include "milter/health/alerts.hpp"

#include <fmt/format.h>

#include <chrono>

#include "milter/health/rules.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHead =
    R"(# Alerts about bloomgate-milter, for Prometheus: name this file under rule_files, and scrape the address of the daemon's
# option `metrics` (scrape.yml beside it). Made by `bloomgate-milter --list-alerts` from the table of what needs action,
# which the status page, the doctor and the check of the configuration show, too; bloomgate.rules.test.yml holds what
# fires when. `promtool check rules` reads it.
#
# severity: page where mail is not decided as it should be and somebody should look now; ticket where it can wait;
# notice where it may be meant.
groups:
  - name: bloomgate
    rules:
)";

struct Alert {
  std::string name, expression;
  std::chrono::minutes patience;
  Severity severity;
  std::string summary, action;
};

std::string duration(std::chrono::minutes minutes) {
  return minutes % 1h == 0min ? fmt::format("{}h", minutes / 1h) : fmt::format("{}m", minutes.count());
}

std::string text_of(const Alert& alert) {
  std::string text = fmt::format("      - alert: {}\n        expr: {}\n", alert.name, alert.expression);
  if (alert.patience != 0min) text += fmt::format("        for: {}\n", duration(alert.patience));
  text += fmt::format("        labels: {{severity: {}}}\n", severity_name(alert.severity));
  return text + fmt::format("        annotations:\n          summary: \"{}\"\n          action: \"{}\"\n",
                            alert.summary, alert.action);
}

std::string of_instance(std::string_view summary) {
  return fmt::format("{{{{ $labels.instance }}}} {}", summary);
}

// The alerts that a stopped daemon cannot report, and those that only the mail server's log can show (bloomgate(1),
// report --prometheus). The operator chooses the name of the job, so no alert uses it: a target counts as a daemon if
// it had the daemon's figures within a week.
const Alert kOthers[] = {
    {"BloomgateDown", "up == 0 and on (job, instance) count_over_time(bloomgate_build_info[7d])", 5min, Severity::page,
     "bloomgate-milter on {{ $labels.instance }} does not answer: mail has no mark",
     "systemctl status bloomgate-milter; bloomgate-milter doctor"},
    {"BloomgateNotScraped", "absent(bloomgate_needs_action)", 15min, Severity::page,
     "Prometheus has no figures of any bloomgate-milter: alerts about what needs action cannot fire",
     "see whether a daemon runs, whether its option metrics is set, and whether scrape_configs of Prometheus names "
     "that address"},
    {"BloomgateMailBypassed", "bloomgate_bypassed_sessions > 0", 0min, Severity::ticket,
     "{{ $value }} sessions on {{ $labels.instance }} went on without the milter {{ $labels.milter }}, which the mail "
     "server could not ask",
     "bloomgate-milter doctor; bloomgate report has the mail server's words"},
    {"BloomgateMailBypassedUnknown",
     "time() - bloomgate_bypassed_report_timestamp_seconds > 3600 or bloomgate_bypassed_report_lines == 0", 0min,
     Severity::ticket,
     "how much mail bypasses its milters on {{ $labels.instance }} is not counted: there are no new figures, or the "
     "log "
     "that they are made of is empty",
     "See why the timer of bloomgate report --prometheus fails, and which log it reads"},
};

}  // namespace

std::string alert_name(std::string_view rule) {
  std::string name = "Bloomgate";
  bool begins_word = true;
  for (const char c : rule) {
    if (c != '-') name += begins_word ? static_cast<char>(c - 'a' + 'A') : c;
    begins_word = c == '-';
  }
  return name;
}

std::string alerts_text() {
  std::string text(kHead);
  for (const Alert& each : kOthers) text += text_of(each) + "\n";
  for (const Rule& rule : health_rules()) {
    text += text_of({alert_name(rule.name), fmt::format("bloomgate_needs_action{{rule=\"{}\"}} > 0", rule.name),
                     rule.patience, rule.severity, of_instance(rule.summary), std::string(rule.how)}) +
            "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace bloomgate
