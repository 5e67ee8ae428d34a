#include "milter/record/record.hpp"

#include <regex>
#include <sstream>

#include "filter/log/daemon_line.hpp"
#include "filter/log/line_keys.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

// The log line of a message from that sender with that many forged headers, its time replaced by T.
std::string log_line(Parts& parts, const std::string& sender, const std::string& queue_id = "Q1",
                     int forged_headers = 0, const char* from = nullptr) {
  const std::size_t before = parts.log.text().size();
  Connection connection(parts.served.get());
  connection.begin_message(sender, {});
  for (int i = 0; i < forged_headers; ++i) connection.message().add_header("X-Bloomgate", "deliver");
  if (from != nullptr) connection.message().add_header("From", from);
  connection.end_of_message({queue_id, ""});
  return std::regex_replace(parts.log.text().substr(before), std::regex("time_us=[0-9]+\\.[0-9]"), "time_us=T");
}

TEST_CASE_METHOD(Parts, "each message has one log line with queue ID, sender, decision, reason and time") {
  struct Case {
    std::string_view name;
    std::string sender, want;
  };
  const Case cases[] = {
      {"listed", "<joe@example.org>",
       "sender=<joe@example.org> decision=deliver reason=listed time_us=T identity=envelope authentication=none "
       "whitelist=whitelist header_from=-"},
      {"by its domain", "<a@corp.example>",
       "sender=<a@corp.example> decision=deliver reason=listed-domain time_us=T identity=envelope authentication=none "
       "whitelist=whitelist header_from=- entry=@corp.example"},
      {"unlisted", "<ann@example.org>",
       "sender=<ann@example.org> decision=check reason=not-listed time_us=T identity=envelope authentication=none "
       "whitelist=- header_from=-"},
      {"null sender", "<>",
       "sender=<> decision=check reason=null-sender time_us=T identity=envelope authentication=none whitelist=- "
       "header_from=-"},
      {"malformed", "<joe>",
       "sender=<joe> decision=check reason=malformed-sender time_us=T identity=envelope authentication=none "
       "whitelist=- "
       "header_from=- fault=missing-at-sign"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(log_line(*this, c.sender) == "info: queue_id=Q1 " + c.want + "\n");
  }
}

TEST_CASE_METHOD(Parts, "no sender, no From field and no queue ID can forge a log line or a field of one") {
  const std::string rest = " identity=envelope authentication=none whitelist=- header_from=";
  CHECK(log_line(*this, "<x@y>\ninfo: queue_id=Q2 decision=deliver", "Q1\n") ==
        "info: queue_id=Q1\\x0a sender=<x@y>\\x0ainfo:\\x20queue_id=Q2\\x20decision=deliver decision=check "
        "reason=malformed-sender time_us=T" +
            rest + "- fault=control-character\n");
  CHECK(log_line(*this, "<\"x decision=deliver\"@example.org>", "Q1", 0, "\"y decision=deliver\"@example.org") ==
        "info: queue_id=Q1 sender=<\"x\\x20decision=deliver\"@example.org> decision=check reason=not-listed time_us=T" +
            rest + "\"y\\x20decision=deliver\"@example.org\n");
  CHECK(log_line(*this, std::string(5000, 'x'), std::string(100, 'Q'), 0, std::string(5000, 'y').c_str()).size() < 900);
}

TEST_CASE_METHOD(Parts, "a missing queue ID and a missing sender are a dash") {
  Connection(served.get()).end_of_message({"", ""});
  CHECK_THAT(log.text(), StartsWith("info: queue_id=- sender=- decision=check reason=no-sender "));
}

TEST_CASE_METHOD(Parts, "forged headers are counted in the log line") {
  CHECK(log_line(*this, "<joe@example.org>", "Q1", 3) ==
        "info: queue_id=Q1 sender=<joe@example.org> decision=deliver reason=listed time_us=T identity=envelope "
        "authentication=none whitelist=whitelist header_from=- forged_headers=3\n");
}

TEST_CASE_METHOD(Parts, "at level warning messages are decided, and not logged") {
  log.logger()->set_level(spdlog::level::warn);
  Connection connection(served.get());
  connection.begin_message("<joe@example.org>", {});
  const Answer answer = connection.end_of_message({"Q1", ""});
  CHECK_THAT(std::get<Edits>(answer).mark, StartsWith("deliver; "));
  CHECK(log.text().empty());
}

TEST_CASE_METHOD(Parts, "the log line names what a store has said of a hit") {
  const PairFiles files(numbered_addresses(0, 10'000));
  set_only_whitelist({"whitelist", files.load()});
  const auto lists = slot.get();
  const LoadedFilter& filter = *lists->parts().whitelists.front().filter;
  CHECK_THAT(log_line(*this, "<user7@example.org>"),
             Contains(" reason=listed ") && Matches("[^\n]* header_from=- confirmed=yes confirm_us=[0-9]+\\.[0-9]\n"));
  CHECK_THAT(log_line(*this, "<" + false_positive_of(filter) + ">"),
             Contains(" reason=not-listed ") && Contains(" whitelist=- header_from=- confirmed=no "));
  CHECK_THAT(log_line(*this, "<" + stranger_of(filter, false) + ">"), !Contains("confirm"));
}

TEST_CASE_METHOD(Parts, "a line with all that there can be of a message is read whole") {
  Judgement made;
  made.facts.envelope_sender = "<joe@example.org>";
  made.facts.signatures = Signatures{.all = {{.outcome = SignatureOutcome::pass,
                                              .domain = "example.org",
                                              .selector = "s1",
                                              .key_bits = 2048,
                                              .key_milliseconds = 12.34,
                                              .has_secure_key = true}}};
  made.decision.sender_fault = RejectReason::missing_at_sign;
  made.decision.for_recipients = {.recipients = 3, .listed = 2};
  made.decision.confirmation = Confirmation::yes;
  const DeepOutcome deep = outcome_of({.verdict = DeepVerdict::spam, .score = 12.3, .server = "rspamd:a"}, {}, {});
  record.message(made, "Q1", 4, &deep);
  const std::string text = log.text();
  const std::string line = text.substr(text.find("queue_id="), text.find('\n') - text.find("queue_id="));
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    INFO(word);
    CHECK(LineKey::find(word.substr(0, word.find('='))));
  }
  const auto read = read_decision_line(line);
  REQUIRE(read);
  CHECK(read->queue_id == "Q1");
  CHECK(read->sender == "<joe@example.org>");
  CHECK(read->forged_fields == 4);
  CHECK(read->recipients == "3");
  CHECK(read->listed_for == "2");
  CHECK(read->confirmed == "yes");
  CHECK(read->domain == "example.org");
  CHECK(read->selector == "s1");
  CHECK(read->deep_check == "spam");
  CHECK_THAT(line, Contains(" fault=missing-at-sign forged_headers=4 recipients=3 listed_for=2 confirmed=yes "
                            "confirm_us=0.0 dkim=pass domain=example.org selector=s1 key_bits=2048 key_ms=12.3 "
                            "dnssec=secure deep_check=spam score=12.3/0.0 action=tag server=rspamd:a check_ms=0"));
}

TEST_CASE("the log line names a signer below the sender's domain, and the domain") {
  JudgeRules rules;
  rules.trusted_authserv_ids = {"mx.example.net"};
  Parts parts(rules);
  MessageRecorder message;
  message.begin_message("<x@other.example>", {});
  message.add_header("From", "joe@example.org");
  message.add_header("DKIM-Signature", "v=1; a=rsa-sha256; d=mg.example.org; s=s1; h=from; t=" +
                                           std::to_string(time(nullptr)) + "; bh=x; b=y");
  message.add_header("Authentication-Results", "mx.example.net; dkim=pass header.d=mg.example.org");
  const Judgement made = parts.judge.judge(message, "");
  parts.record.message(made, "Q1", 0, nullptr);
  CHECK_THAT(parts.log.text(),
             Contains(" reason=not-authenticated ") && EndsWith(" child_signer=mg.example.org child_of=example.org\n"));
}

}  // namespace
}  // namespace bloomgate::test
