#include "milter/health/rules.hpp"

#include <algorithm>

#include "config/enum_words.hpp"
#include "filter/base/printable.hpp"

namespace bloomgate {

std::string_view severity_name(Severity severity) noexcept {
  using enum Severity;
  static constexpr auto kWords = enum_words<Severity>({{notice, "notice"}, {ticket, "ticket"}, {page, "page"}});
  return word_of(kWords, severity);
}

std::string_view urgency(Severity severity) noexcept {
  using enum Severity;
  static constexpr auto kWords = enum_words<Severity>({{notice, "to know"}, {ticket, "soon"}, {page, "urgent"}});
  return word_of(kWords, severity);
}

std::vector<Rule> health_rules() {
  std::vector<Rule> all;
  for (const auto rules : {settings_rules(), list_rules(), service_rules()}) {
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

std::vector<HealthFinding> findings_of(const HealthFacts& facts) {
  std::vector<HealthFinding> findings;
  for (const Rule& rule : health_rules()) {
    if (rule.is_of_daemon && !facts.running) continue;
    FoundOnes found;
    rule.find(facts, found);
    for (Found& each : found) {
      findings.push_back({rule.name, rule.severity, std::move(each.what),
                          each.how.empty() ? std::string(rule.how) : std::move(each.how), std::move(each.whom)});
    }
  }
  std::ranges::stable_sort(findings, std::ranges::greater(), &HealthFinding::severity);
  return findings;
}

std::string text_of(const HealthFinding& finding) {
  std::string text(urgency(finding.severity));
  text.append(": ").append(printable(finding.what));
  if (!finding.whom.empty()) text.append(": ").append(printable(finding.whom));
  return text.append("\n  -> ").append(printable(finding.how)).append("\n");
}

}  // namespace bloomgate
