// What --doctor makes of the figures of the daemon. From a real one, and from servers that are none:
// tests/e2e/test_doctor_metrics.py.
#include <string>

#include "milter/doctor/doctor.hpp"
#include "milter/doctor/shown_figures.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using Level = DoctorFinding::Level;

const std::string kDaemon = "bloomgate_build_info{version=\"1\"} 1\n";

std::vector<DoctorFinding> findings_of(const std::string& text) {
  std::vector<DoctorFinding> findings;
  examine_figures(text, findings);
  return findings;
}

TEST_CASE("figures are read with their labels, and other lines are left out") {
  const ShownFigures figures(
      "# HELP bloomgate_hits_total Hits.\n# TYPE bloomgate_hits_total counter\n"
      "bloomgate_hits_total 12\n"
      "bloomgate_deep_checks_total{answer=\"ham\",action=\"tag\"} 3\n"
      "bloomgate_deep_checks_total{answer=\"failed\",action=\"tag\"} 4.5\n"
      "bloomgate_deep_checks_total{answer=\"failed\",action=\"reject\"} 1e2\n"
      "other_hits_total 99\n"
      "bloomgate_no_value\nbloomgate_12\nbloomgate_no_number x\nbloomgate_half 1x\nbloomgate_open{a=\"b\" 1\n"
      "bloomgate_nan NaN\nbloomgate_infinite +Inf\nbloomgate_huge 1e999\n"
      "bloomgate_last 7");
  CHECK(figures.value("hits_total") == 12);
  CHECK(figures.value("last") == 7);
  CHECK(figures.all("12").empty());
  CHECK(figures.value("deep_checks_total", "answer=\"failed\"") == 4.5);
  CHECK(figures.sum("deep_checks_total", "answer=\"failed\"") == 104.5);
  CHECK(figures.sum("deep_checks_total") == 107.5);
  CHECK(figures.all("deep_checks_total").size() == 3);
  CHECK(figures.all("deep_checks_total")[2].labels == "answer=\"failed\",action=\"reject\"");
  CHECK_FALSE(figures.are_ours());
  for (const char* const none : {"no_value", "no_number", "half", "open", "nan", "infinite", "huge", "hits"}) {
    INFO(none);
    CHECK_FALSE(figures.value(none));
    CHECK(figures.sum(none) == 0);
  }
  CHECK(ShownFigures(kDaemon).are_ours());
}

TEST_CASE("the number and size of the figures that are kept are bounded") {
  std::string many = "bloomgate_" + std::string(ShownFigures::kMostLineBytes, 'x') + " 1\n";
  for (std::size_t i = 0; i <= ShownFigures::kMostFigures; ++i) many += "bloomgate_same 1\n";
  CHECK(ShownFigures(many).sum("same") == static_cast<double>(ShownFigures::kMostFigures));
}

TEST_CASE("the value of a label is found at any place") {
  CHECK(label_value("whitelist=\"w\",answer=\"yes\"", "whitelist") == "w");
  CHECK(label_value("whitelist=\"w\",answer=\"yes\"", "answer") == "yes");
  CHECK(label_value("whitelist=\"w\"", "list").empty());
  CHECK(label_value("whitelist=\"w", "whitelist").empty());
  CHECK(label_value("=\"", "").empty());
}

TEST_CASE("figures within every limit give no finding") {
  const auto findings = findings_of(
      kDaemon +
      "bloomgate_messages_total{decision=\"deliver\"} 40\nbloomgate_messages_total{decision=\"check\"} 2\n"
      "bloomgate_whitelist_usable{whitelist=\"w\"} 1\nbloomgate_exact_list_lost{list=\"revoked\"} 0\n"
      "bloomgate_whitelist_probes_total{whitelist=\"w\"} 1000\n"
      "bloomgate_whitelist_probe_hits_total{whitelist=\"w\"} 70\n"
      "bloomgate_whitelist_probe_expected_ratio{whitelist=\"w\"} 0.02\n"
      "bloomgate_whitelist_store_faulty{whitelist=\"w\"} 0\nbloomgate_last_reload_refused 0\n"
      "bloomgate_waits_for_restart 0\nbloomgate_trusted_results_missing 0\nbloomgate_log_lines_lost_total 0\n"
      "bloomgate_deep_checks_total{answer=\"ham\",action=\"tag\"} 95\n"
      "bloomgate_deep_checks_total{answer=\"failed\",action=\"tag\"} 5\n"
      "bloomgate_delivery_samples_total{answer=\"ham\"} 50\nbloomgate_delivery_samples_total{answer=\"failed\"} 30\n"
      "bloomgate_delivery_samples_total{answer=\"dropped\"} 20\nbloomgate_delivered_spam_lower_ratio 0.02\n");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == Level::ok);
  CHECK_THAT(findings[0].text, Contains("42 messages"));
}

TEST_CASE("each figure that needs action is a finding with its remedy") {
  struct Case {
    std::string text;
    Level level;
    std::string words, remedy;
  };
  const Case cases[] = {
      {"bloomgate_whitelist_usable{whitelist=\"good\"} 1\nbloomgate_whitelist_usable{whitelist=\"bad\"} 0\n",
       Level::problem, "whitelist bad is missing or damaged", "bloomgate verify"},
      {"bloomgate_exact_list_lost{list=\"revoked\"} 1\n", Level::problem, "the list revoked", "mend the file"},
      {"bloomgate_whitelist_store_faulty{whitelist=\"w\"} 1\n", Level::warning, "store of whitelist w", "disk"},
      {"bloomgate_whitelist_probes_total{whitelist=\"w\"} 1000\n"
       "bloomgate_whitelist_probe_hits_total{whitelist=\"w\"} 71\n"
       "bloomgate_whitelist_probe_expected_ratio{whitelist=\"w\"} 0.02\n",
       Level::problem, "whitelist w has 7.1 % of random keys that no list can hold, instead of 2 %", "build it again"},
      {"bloomgate_last_reload_refused 1\n", Level::problem, "reload was refused", "systemctl reload"},
      {"bloomgate_waits_for_restart 1\n", Level::warning, "options have changed", "systemctl restart"},
      {"bloomgate_trusted_results_missing 1\n", Level::problem, "trusted results", "trusted-authserv-id"},
      {"bloomgate_sessions_limit 20\nbloomgate_sessions_turned_away_total 4\n", Level::warning,
       "4 connections of the mail server were turned away", "raise max-connections"},
      {"bloomgate_learning_stopped 1\n", Level::problem, "nothing is learned", "the status page"},
      {"bloomgate_log_lines_lost_total 3\n", Level::warning, "lost 3 lines", "log-level"},
      {"bloomgate_deep_checks_total{answer=\"ham\",action=\"tag\"} 94\n"
       "bloomgate_deep_checks_total{answer=\"failed\",action=\"tag\"} 6\n",
       Level::problem, "of 100 messages that were to be checked, 6 got no answer", "deep-check"},
      {"bloomgate_delivered_spam_lower_ratio 0.021\nbloomgate_delivered_spam_upper_ratio 0.1\n", Level::problem,
       "2.1 % to 10 % of the delivered mail spam", "bloomgate report"},
      {"bloomgate_delivery_samples_total{answer=\"ham\"} 49\nbloomgate_delivery_samples_total{answer=\"failed\"} 31\n"
       "bloomgate_delivery_samples_total{answer=\"dropped\"} 20\n",
       Level::warning, "of 100 samples of delivered mail, 51 got no answer", "deep-check-sample"},
  };
  for (const Case& c : cases) {
    INFO(c.words);
    const auto findings = findings_of(kDaemon + c.text);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject == "metrics");
    CHECK(findings[0].level == c.level);
    CHECK_THAT(findings[0].text, Contains(c.words));
    CHECK_THAT(findings[0].remedy, Contains(c.remedy));
  }
}

TEST_CASE("a share of few messages gives no finding") {
  const auto findings = findings_of(kDaemon +
                                    "bloomgate_deep_checks_total{answer=\"failed\",action=\"tag\"} 19\n"
                                    "bloomgate_delivery_samples_total{answer=\"failed\"} 19\n");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == Level::ok);
}

TEST_CASE("an answer that is not the daemon's is reported as such") {
  for (const char* const text : {"", "<html>", "bloomgate_last_reload_refused 1\n"}) {
    const auto findings = findings_of(text);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].level == Level::problem);
    CHECK_THAT(findings[0].text, Contains("is not bloomgate-milter"));
  }
}

TEST_CASE("without an address nothing is asked, and an address without a server is reported") {
  DaemonOptions options = {};
  std::vector<DoctorFinding> findings;
  examine_metrics(options, findings);
  CHECK(findings.empty());
  options.metrics = parse_http_address("/nonexistent/metrics.sock");
  examine_metrics(options, findings);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == Level::problem);
  CHECK_THAT(findings[0].text, Contains("the daemon's figures at unix:/nonexistent/metrics.sock cannot be read"));
}

TEST_CASE(
    "the reason for which most messages of listed senders lack a proof is named with the option that governs it") {
  const std::string listed =
      kDaemon +
      "bloomgate_messages_total{decision=\"deliver\",reason=\"listed\",whitelist=\"w\"} 90\n"
      "bloomgate_messages_total{decision=\"check\",reason=\"not-authenticated\",whitelist=\"w\"} 10\n"
      "bloomgate_messages_total{decision=\"check\",reason=\"not-listed\",whitelist=\"none\"} 9000\n";
  const auto finding = [&](const std::string& more) {
    const auto findings = findings_of(listed + more);
    REQUIRE(findings.size() == 1);
    return findings[0];
  };
  const DoctorFinding child = finding("bloomgate_child_signed_messages_total 6\n");
  CHECK(child.level == Level::warning);
  CHECK_THAT(child.text, Contains("of 100 messages of listed senders, 6 were checked since only a name below"));
  CHECK_THAT(child.remedy, Contains("alignment = relaxed"));
  const DoctorFinding field = finding(
      "bloomgate_child_signed_messages_total 6\nbloomgate_signatures_total{outcome=\"field-added-subject\"} 7\n"
      "bloomgate_signatures_total{outcome=\"field-added-to\"} 8\nbloomgate_signatures_total{outcome=\"pass\"} 50\n");
  CHECK_THAT(field.text, Contains("8 were checked since the signature leaves the field to open"));
  CHECK_THAT(field.remedy, Contains("require-signed"));
  const DoctorFinding old = finding("bloomgate_signatures_total{outcome=\"too-old\"} 9\n");
  CHECK_THAT(old.text, Contains("9 were checked since the signature was too old"));
  CHECK_THAT(old.remedy, Contains("max-signature-age"));
  CHECK(finding("bloomgate_child_signed_messages_total 5\n").level == Level::ok);
  CHECK(findings_of(kDaemon + "bloomgate_messages_total{decision=\"check\",whitelist=\"w\"} 19\n"
                              "bloomgate_child_signed_messages_total 19\n")[0]
            .level == Level::ok);
}

}  // namespace
}  // namespace bloomgate::test
