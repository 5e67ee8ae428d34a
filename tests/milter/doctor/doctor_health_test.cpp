// What --doctor makes of the daemon's own findings. From a real one, and from other servers:
// tests/e2e/test_doctor_metrics.py.
#include <string>

#include "milter/doctor/doctor.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using Level = DoctorFinding::Level;

std::vector<DoctorFinding> findings_of(const std::string& text, std::vector<DoctorFinding> findings = {}) {
  examine_daemons_findings(text, findings);
  return findings;
}

TEST_CASE("the doctor shows each finding of the daemon, except those that it has found itself") {
  const std::string text =
      R"([{"rule": "reload-refused", "severity": "ticket", "what": "it was refused", "how": "reload"},
          {"rule": "mode-observe", "severity": "notice", "what": "no message is marked", "how": "enforce"}])";
  const auto findings = findings_of(text);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].subject == "reload-refused");
  CHECK(findings[0].level == Level::problem);
  CHECK(findings[0].text == "it was refused");
  CHECK(findings[0].remedy == "reload");
  CHECK(findings[1].level == Level::warning);
  const auto others = findings_of(text, {{Level::warning, "mode-observe", "here"}});
  REQUIRE(others.size() == 2);
  CHECK(others[0].text == "here");
  CHECK(others[1].subject == "reload-refused");
}

TEST_CASE("a daemon without findings counts as healthy") {
  const auto findings = findings_of("[]\n");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == Level::ok);
}

TEST_CASE("an answer that is not the daemon's is reported as such") {
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += R"({"rule":"a","what":"b"},)";
  for (const std::string& text :
       {std::string(), std::string("<html>"), std::string("{}"), std::string("[1]"), std::string("[{}]"),
        std::string(R"([{"rule": 1, "what": "x"}])"), std::string(100'000, '['), many + "{}]"}) {
    const auto findings = findings_of(text);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].level == Level::problem);
    CHECK_THAT(findings[0].text, Contains("is not bloomgate-milter"));
  }
}

TEST_CASE("without an address no daemon is asked, which is reported, and so is an address without a server") {
  DaemonOptions options = {};
  std::vector<DoctorFinding> findings;
  examine_daemons_findings(options, findings);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == Level::warning);
  CHECK(findings[0].text.find("the doctor cannot ask the daemon for what only it knows") != std::string::npos);
  options.metrics = parse_http_address("/nonexistent/metrics.sock");
  examine_daemons_findings(options, findings);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].level == Level::problem);
}

}  // namespace
}  // namespace bloomgate::test
