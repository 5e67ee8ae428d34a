// Messages from their MAIL command to the answer, through the parts as the daemon puts them together, without sockets
// and without libmilter.
#include "milter/judge/hearing.hpp"

#include <stdexcept>

#include "tests/milter/judge/hearing_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using std::chrono::days;

TEST_CASE_METHOD(Teaching, "a user's correspondent is delivered to that user from the end of the user's message on") {
  CHECK_THAT(hear(kFromZoe), StartsWith("check; reason=not-listed;"));
  begin({});
  CHECK_FALSE(knows_zoe());
  hearing.forget_message();
  CHECK_FALSE(knows_zoe());  // the message was given up
  hear({});
  CHECK(knows_zoe());
  CHECK_THAT(hear(kFromZoe), StartsWith("deliver; reason=learned;"));
  Mail to_bob = kFromZoe;
  to_bob.recipients = {"bob@ours.example"};
  CHECK_THAT(hear(to_bob), StartsWith("check; reason=not-listed;"));
  CHECK(log.text().empty());
}

TEST_CASE_METHOD(Teaching, "a message that a checker is asked about teaches only if it is good") {
  ask(DeepVerdict::ham);
  bool teaches = true;
  SECTION("good") {}
  SECTION("any other verdict") {
    ask(GENERATE(DeepVerdict::spam, DeepVerdict::soft_reject, DeepVerdict::reject));
    teaches = false;
  }
  SECTION("no answer") {
    parts.deep_check = std::make_shared<DeepCheck>(DeepCheckOptions(), [](const auto&, const auto&) -> DeepResult {
      throw std::runtime_error("no server answers");
    });
    teaches = false;
  }
  SECTION("no checker") {
    parts.deep_check = nullptr;
  }
  hear({});
  CHECK(knows_zoe() == teaches);
}

TEST_CASE_METHOD(Teaching, "what is known of a message in part, or came from a program, teaches nothing") {
  Mail mail;
  Meanwhile meanwhile;
  SECTION("facts that fail before the end of the header") {
    mail.fields.assign(2000, {"Authentication-Results", "x; none"});
  }
  SECTION("facts that fail after it") {
    meanwhile = [](MessageRecorder& late) {
      for (int i = 0; i < 2000; ++i) late.add_header("Authentication-Results", "x; none");
    };
  }
  SECTION("a header of a program") {
    mail.fields = {{"Auto-Submitted", "auto-replied"}};
  }
  SECTION("a body of a program") {
    mail.fields = {{"Content-Type", "multipart/mixed; boundary=b"}};
    mail.body = "--b\r\nContent-Type: text/calendar; method=REPLY\r\n\r\nBEGIN:VCALENDAR\r\n--b--\r\n";
  }
  SECTION("a client without a login") {
    mail.login = "";
  }
  hear(mail, meanwhile);
  CHECK_FALSE(knows_zoe());
  CHECK(learner.status().pairs == 0);
  hear({});
  CHECK(knows_zoe());
}

TEST_CASE_METHOD(Teaching, "a message to more recipients than the rules of learning allow teaches nothing") {
  learner.set_rules({.path = folder.file("learned.db"), .lesson = {.most_recipients = 2}});
  hear({.recipients = {"zoe@example.org", "yan@example.net", "xia@example.com"}});
  CHECK_FALSE(knows_zoe());
  hear({.recipients = {"zoe@example.org", "yan@example.net"}});
  CHECK(knows_zoe());
}

TEST_CASE_METHOD(Teaching, "in observe mode a message teaches, too, and nothing is edited") {
  parts.mode = Mode::observe;
  CHECK(hear({.fields = {{"X-Bloomgate", "deliver"}}}) == "untouched");
  CHECK(knows_zoe());
  CHECK(hear(kFromZoe) == "untouched");
}

TEST_CASE("a pair does not expire while messages are delivered by it, for the sender who delivers them") {
  const IdentityRule rule = GENERATE(IdentityRule::envelope, IdentityRule::header_from, IdentityRule::both);
  CAPTURE(rule);
  Teaching taught(rules_for(rule));
  taught.hear({.recipients = {"zoe@example.org", "yan@example.net"}});
  Mail mail = {.sender = "yan@example.net",
               .recipients = {"ann@ours.example"},
               .login = "",
               .fields = {{"From", "zoe@example.org"}}};
  taught.today += days(6);
  REQUIRE_THAT(taught.hear(mail), StartsWith("deliver; reason=learned;"));
  taught.today += days(6);
  CHECK(taught.learner.is_learned("ann@ours.example", "zoe@example.org") == (rule != IdentityRule::envelope));
  CHECK(taught.learner.is_learned("ann@ours.example", "yan@example.net") == (rule != IdentityRule::header_from));
}

TEST_CASE_METHOD(Teaching, "a message that is not delivered by a pair does not keep the pair") {
  hear({});
  today += days(6);
  set_exact_lists("zoe@example.org\n");
  CHECK_THAT(hear(kFromZoe), StartsWith("check; "));
  today += days(6);
  CHECK_FALSE(knows_zoe());
}

TEST_CASE_METHOD(Teaching, "the answer after an exception checks the message, or in observe mode leaves it alone") {
  begin({.fields = {{"X-Bloomgate", "deliver"}}});
  const auto answer = [&] { return std::get<Edits>(hearing.answer_after_exception()); };
  CHECK(answer().mark == kFallbackHeaderValue);
  CHECK(answer().forged_marks == 1);
  parts.mode = Mode::observe;
  CHECK(answer().mark == nullptr);
  CHECK(answer().forged_marks == 0);
}

}  // namespace
}  // namespace bloomgate::test
