#include "filter/log/daemon_line.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

const std::string kDecision =
    "queue_id=4XyZ1 sender=<Joe@Example.org> decision=deliver reason=listed time_us=11.4 identity=envelope "
    "authentication=dkim whitelist=whitelist header_from=joe@example.org";

TEST_CASE("the daemon's line is found in syslog's files, in the journal, and in its standard error") {
  for (const char* start :
       {"Nov 20 10:00:00 mx bloomgate-milter[12]: ", "Nov  2 10:00:00 mx bloomgate-milter: ",
        "2026-11-20T10:00:00.123456+01:00 mx bloomgate-milter[12]: ",
        "2026-11-20T10:00:00+0100 mx bloomgate-milter[12]: ", "2026-11-20T10:00:00.123+01:00 info: ",
        "2026-11-20T10:00:00+0100 mx bloomgate-milter[12]: 2026-11-20T10:00:00.123+01:00 info: "}) {
    CAPTURE(start);
    for (const char* end : {"", "\r"}) {
      const std::string whole = start + kDecision + end;
      const auto line = read_daemon_line(whole);
      REQUIRE(line);
      CHECK(line->level == DaemonLevel::info);
      CHECK(line->text == kDecision);
      CHECK((line->date.size() >= 15 && !line->date.ends_with(' ')));
    }
  }
}

TEST_CASE("a warning and an error of the daemon show in every form") {
  for (const char* start : {"Nov 20 10:00:00 mx bloomgate-milter[12]: ", "2026-11-20T10:00:00.123+01:00 "}) {
    const std::string whole = std::string(start) + "warning: of something";
    const auto warning = read_daemon_line(whole);
    REQUIRE(warning);
    CHECK(warning->level == DaemonLevel::warning);
    CHECK(warning->text == "of something");
    CHECK(read_daemon_line(std::string(start) + "debug: e")->level == DaemonLevel::info);
    CHECK(read_daemon_line(std::string(start) + "error: e")->level == DaemonLevel::error);
    CHECK(read_daemon_line(std::string(start) + "critical: e")->level == DaemonLevel::error);
  }
}

TEST_CASE("lines of other programs are not taken for the daemon's, whatever they quote") {
  for (const std::string& line :
       {"Nov 20 10:00:00 mx postfix/smtpd[12]: bloomgate-milter[1]: " + kDecision,
        "Nov 20 10:00:00 mx bloomgate-milter-x[12]: " + kDecision,
        "Nov 20 10:00:00 mx x bloomgate-milter[12]: " + kDecision, "bloomgate-milter[12]: " + kDecision, kDecision,
        std::string(), std::string("-- No entries --"), "2026-11-20T10:00:00+0100 " + kDecision}) {
    CAPTURE(line);
    CHECK_FALSE(read_daemon_line(line));
  }
}

TEST_CASE("a decision's line has its words, and the first of each name counts") {
  const std::string text =
      kDecision +
      " forged_headers=3 recipients=3 listed_for=2 confirmed=yes confirm_us=80.5 proof=same-from dkim=no-signature "
      "domain=a.example selector=s1 signed_by=b.example signed_by=c.example deep_check=spam score=12.3/5.0 check_ms=85 "
      "reason=x";
  const auto line = read_decision_line(text);
  REQUIRE(line);
  CHECK(line->outcome == Outcome::deliver);
  CHECK(line->queue_id == "4XyZ1");
  CHECK(line->sender == "<Joe@Example.org>");
  CHECK(line->reason == "listed");
  CHECK(line->identity == "envelope");
  CHECK(line->authentication == "dkim");
  CHECK(line->whitelist == "whitelist");
  CHECK(line->header_from == "joe@example.org");
  CHECK(line->forged_fields == 3);
  CHECK(line->confirmed == "yes");
  CHECK(line->deep_check == "spam");
  CHECK(line->decision == "deliver");
  CHECK(line->recipients == "3");
  CHECK(line->listed_for == "2");
  CHECK(line->dkim == "no-signature");
  CHECK(line->domain == "a.example");
  CHECK(line->selector == "s1");
  CHECK(line->signed_by[0] == "b.example");
  CHECK(line->signed_by[1] == "c.example");
  CHECK(line->signed_by[2].empty());
  CHECK(line->decision_seconds.value() == Approx(11.4e-6));
  CHECK(line->confirm_seconds.value() == Approx(80.5e-6));
  CHECK(line->check_seconds.value() == Approx(0.085));
}

TEST_CASE("mail that is not incoming is exempt, whether it is marked for delivery or not") {
  for (const char* decision : {"deliver", "check"}) {
    CHECK(read_decision_line(std::string("queue_id=1 decision=") + decision + " reason=exempt-network")->outcome ==
          Outcome::exempt);
  }
  CHECK(read_decision_line("queue_id=1 decision=refuse reason=forged-fields")->outcome == Outcome::refuse);
  std::vector<std::string_view> names;
  for (const Outcome outcome : kEachOutcome) names.push_back(outcome_name(outcome));
  CHECK(names == std::vector<std::string_view>{"deliver", "check", "exempt", "refuse"});
}

TEST_CASE("a line without a decision is not counted, and an invalid number is left out") {
  for (const char* text :
       {"", "queue_id=", "queue_id=1", "queue_id=1 decision=maybe reason=listed", "queue_id=1 decision=check",
        " queue_id=1 decision=check reason=x", "x queue_id=1 decision=check reason=x", "loaded /var/lib/x"}) {
    CAPTURE(text);
    CHECK_FALSE(read_decision_line(text));
  }
  for (const char* number : {"", "x", "-1", "nan", "inf", "1e99", "1.5x", "1000000000001", "999999999999999999999"}) {
    CAPTURE(number);
    const auto line = read_decision_line(std::string("queue_id=1 decision=check reason=x time_us=") + number +
                                         " forged_headers=" + number + " check_ms=" + number);
    REQUIRE(line);
    CHECK_FALSE(line->decision_seconds);
    CHECK_FALSE(line->check_seconds);
    CHECK(line->forged_fields == 0);
  }
  const auto most = read_decision_line(
      "queue_id=1 decision=check reason=x time_us=1000000000000 forged_headers=100000000 signed_by=1 signed_by=2 "
      "signed_by=3 signed_by=4 signed_by=5 signed_by=6 signed_by=7 signed_by=8 signed_by=9");
  CHECK(most->decision_seconds.value() == Approx(1e6));
  CHECK(read_decision_line("queue_id=1 decision=check reason=x check_ms=0")->check_seconds == 0);
  CHECK(most->forged_fields == 100'000'000);
  CHECK(most->signed_by.back() == "8");
  CHECK(read_decision_line("queue_id=1 decision=check reason=x forged_headers=100000001")->forged_fields == 0);
}

TEST_CASE("the line of a sample is not a decision, and the line of a decision is not a sample") {
  const std::string_view sample =
      "queue_id=4XyZ1 sender=<joe@example.org> sample=spam score=12.3/5.0 identity=envelope whitelist=customers "
      "header_from=joe@example.org server=rspamd:http://127.0.0.1:11333 check_ms=42";
  CHECK_FALSE(read_decision_line(sample));
  CHECK_FALSE(read_sample_line(kDecision));
  CHECK_FALSE(read_sample_line("x sample=spam"));
  const auto read = read_sample_line(sample);
  REQUIRE(read);
  CHECK(read->answer == "spam");
  CHECK(read->sender == "<joe@example.org>");
  CHECK(read->header_from == "joe@example.org");
  CHECK(read->identity == "envelope");
  CHECK(read->whitelist == "customers");
  CHECK(read->score == "12.3/5.0");
}

TEST_CASE("the domain of a sender is the text after its last at-sign") {
  CHECK(domain_of("<joe@example.org>") == "example.org");
  CHECK(domain_of("joe@example.org") == "example.org");
  CHECK(domain_of("<\"a@b>\"@example.org>") == "example.org");
  CHECK(domain_of("<>").empty());
  CHECK(domain_of("-").empty());
  CHECK(domain_of("<joe>").empty());
  CHECK(domain_of("<joe@example").empty());
  CHECK(domain_of("<joe@exam\\+1200").empty());
  CHECK(domain_of("joe@exam\\+1200").empty());
}

}  // namespace
}  // namespace bloomgate
