#include "milter/gate.hpp"

#include <catch2/catch.hpp>
#include <regex>

#include "tests/milter/daemon_parts.hpp"

namespace bloomgate {
namespace {

using test::Parts;

// The log line of a message from that sender with that many forged headers, its time replaced by T.
std::string log_line(Parts& parts, const std::string& sender, const std::string& queue_id = "Q1",
                     int forged_headers = 0) {
  const std::size_t before = parts.log.text().size();
  Session session;
  session.begin_message(sender);
  for (int i = 0; i < forged_headers; ++i) session.add_header("X-Bloomgate", "deliver");
  parts.gate.conclude(session, queue_id);
  return std::regex_replace(parts.log.text().substr(before), std::regex("time_us=[0-9]+\\.[0-9]"), "time_us=T");
}

TEST_CASE("each message has one log line with queue ID, sender, decision, reason and time") {
  Parts parts;
  struct Case {
    std::string_view name;
    std::string sender, want;
  };
  const Case cases[] = {
      {"listed", "<joe@example.org>", "sender=<joe@example.org> decision=deliver reason=listed time_us=T"},
      {"by its domain", "<a@corp.example>", "sender=<a@corp.example> decision=deliver reason=listed-domain time_us=T"},
      {"unlisted", "<ann@example.org>", "sender=<ann@example.org> decision=check reason=not-listed time_us=T"},
      {"null sender", "<>", "sender=<> decision=check reason=null-sender time_us=T"},
      {"malformed", "<joe>", "sender=<joe> decision=check reason=malformed-sender time_us=T fault=missing-at-sign"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(log_line(parts, c.sender) == "info: queue_id=Q1 " + c.want + "\n");
  }
}

TEST_CASE("no sender and no queue ID can forge a log line or a field of one") {
  Parts parts;
  CHECK(log_line(parts, "<x@y>\ninfo: queue_id=Q2 decision=deliver", "Q1\n") ==
        "info: queue_id=Q1\\x0a sender=<x@y>\\x0ainfo:\\x20queue_id=Q2\\x20decision=deliver decision=check "
        "reason=malformed-sender time_us=T fault=control-character\n");
  CHECK(
      log_line(parts, "<\"x decision=deliver\"@example.org>") ==
      "info: queue_id=Q1 sender=<\"x\\x20decision=deliver\"@example.org> decision=check reason=not-listed time_us=T\n");
  CHECK(log_line(parts, std::string(5000, 'x'), std::string(100, 'Q')).size() < 600);
}

TEST_CASE("a missing queue ID and a missing sender are a dash") {
  Parts parts;
  parts.gate.conclude(Session(), "");
  CHECK_THAT(parts.log.text(), Catch::StartsWith("info: queue_id=- sender=- decision=check reason=no-sender "));
}

TEST_CASE("forged headers are counted in the log line") {
  Parts parts;
  CHECK(log_line(parts, "<joe@example.org>", "Q1", 3) ==
        "info: queue_id=Q1 sender=<joe@example.org> decision=deliver reason=listed time_us=T forged_headers=3\n");
}

TEST_CASE("at level warning messages are not logged, and decided all the same") {
  Parts parts;
  parts.log.logger()->set_level(spdlog::level::warn);
  Session session;
  session.begin_message("<joe@example.org>");
  CHECK(parts.gate.conclude(session, "Q1").verdict == Verdict::deliver);
  CHECK(parts.log.text().empty());
}

TEST_CASE("a session that failed is check with internal-error, although its sender is listed") {
  Parts parts;
  Session session;
  session.begin_message("<joe@example.org>");
  session.fail();
  CHECK(parts.gate.conclude(session, "Q1") == Decision{Verdict::check, Reason::internal_error});
}

TEST_CASE("without a whitelist all is check") {
  Parts parts;
  parts.slot.set(std::make_shared<const LoadedLists>());
  Session session;
  session.begin_message("<joe@example.org>");
  CHECK(parts.gate.conclude(session, "Q1") == Decision{Verdict::check, Reason::no_whitelist});
  CHECK(parts.damage_reports == 0);
}

TEST_CASE("a truncated whitelist makes all check, is reported once, and a good one puts an end to it") {
  Parts parts;
  Session session;
  session.begin_message("<joe@example.org>");
  REQUIRE(parts.gate.conclude(session, "Q1").verdict == Verdict::deliver);

  parts.whitelist.truncate();
  for (int i = 0; i < 5; ++i) {
    CHECK(parts.gate.conclude(session, "Q1").reason == Reason::whitelist_damaged);
  }
  CHECK(parts.damage_reports == 1);

  parts.whitelist.replace({"joe@example.org"});
  parts.slot.set(parts.whitelist.load_alone());
  CHECK(parts.gate.conclude(session, "Q1").verdict == Verdict::deliver);

  parts.whitelist.truncate();
  CHECK(parts.gate.conclude(session, "Q1").reason == Reason::whitelist_damaged);
  CHECK(parts.damage_reports == 2);
}

}  // namespace
}  // namespace bloomgate
