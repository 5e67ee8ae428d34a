#include "milter/health/alerts.hpp"

#include <fstream>
#include <sstream>

#include "milter/health/rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/places.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("the alerts that are shipped are those that the table makes") {
  std::ifstream file(source_folder() + "/config/prometheus/bloomgate.rules.yml");
  std::ostringstream shipped;
  shipped << file.rdbuf();
  INFO("bloomgate-milter --list-alerts > config/prometheus/bloomgate.rules.yml");
  CHECK(shipped.str() == alerts_text());
}

TEST_CASE("each rule has an alert of its name, with its patience and its remedy") {
  CHECK(alert_name("whitelist-old") == "BloomgateWhitelistOld");
  const std::string text = alerts_text();
  for (const Rule& rule : health_rules()) {
    INFO(rule.name);
    CHECK_THAT(text, Contains("- alert: " + alert_name(rule.name) + "\n        expr: bloomgate_needs_action{rule=\"" +
                              std::string(rule.name) + "\"} > 0\n"));
    CHECK_THAT(text, Contains("action: \"" + std::string(rule.how) + "\""));
  }
  CHECK_THAT(text, Contains("for: 24h\n") && Contains("for: 5m\n"));
}

TEST_CASE("the manual has each rule, with its severity") {
  std::ifstream file(source_folder() + "/milter/bloomgate-milter.8");
  std::ostringstream manual;
  manual << file.rdbuf();
  for (const Rule& rule : health_rules()) {
    CHECK_THAT(manual.str(),
               Contains(".It Cm " + std::string(rule.name) + " Pq " + std::string(severity_name(rule.severity)) +
                        "\nThe daemon " + std::string(rule.summary) + ".\n"));
  }
}

}  // namespace
}  // namespace bloomgate::test
