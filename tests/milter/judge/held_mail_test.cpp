// The brake among the daemon's parts.
#include <atomic>

#include "milter/brake/brake.hpp"
#include "tests/milter/judge/hearing_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fresh_signature.hpp"

namespace bloomgate::test {
namespace {

class Braked : public Parts {
 public:
  explicit Braked(JudgeRules rules = envelope_rules())
      : brake(
            {.floor = {.messages = 5, .recipients = 5}, .observe = std::chrono::days(0), .path = folder.file("counts")},
            log.logger()),
        braking(std::move(rules), slot, results, record, {}, nullptr, &brake) {
    brake.start();
  }

  Decision hear(std::string_view sender, std::string_view message_id = "",
                const std::vector<std::string_view>& recipients = {"ann@ours.example"}) {
    MessageRecorder message;
    message.expect_recipients(braking.wants_recipients());
    message.begin_message(sender);
    for (const std::string_view path : recipients) message.add_recipient(path);
    if (!message_id.empty()) message.add_header("Message-Id", message_id);
    return braking.judge(message, "").decision;
  }

  Decision look_up(std::string_view sender) { return braking.look_up(sender, "", {}, Judge::AskLearned::no); }

  TemporaryFolder folder;
  Brake brake;
  Judge braking;
};

TEST_CASE_METHOD(Braked, "a listed sender who sends much at once is checked, and who asks for it is told so") {
  for (int i = 0; i < 5; ++i) CHECK(hear("<joe@example.org>").reason == Reason::listed);
  CHECK(look_up("joe@example.org").reason == Reason::listed);
  const Decision held = hear("<joe+tag@example.org>");
  CHECK(held.reason == Reason::not_listed);
  CHECK(hear("<joe@example.org>").reason == Reason::burst);
  CHECK(look_up("joe@example.org").reason == Reason::burst);
  CHECK(look_up("joe@example.org").verdict == Verdict::check);
  CHECK(look_up("anybody@corp.example").reason == Reason::listed_domain);
  CHECK(brake.status().held == 1);
}

TEST_CASE_METHOD(Braked, "mail of senders who are not listed is not counted") {
  for (int i = 0; i < 20; ++i) CHECK(hear("<stranger@example.org>").reason == Reason::not_listed);
  CHECK(brake.status().senders == 0);
}

TEST_CASE_METHOD(Braked, "the recipients of the mail are counted, too") {
  CHECK(braking.wants_recipients());
  CHECK(hear("<joe@example.org>", "", {"a@o.example", "b@o.example", "c@o.example"}).reason == Reason::listed);
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) paths.push_back("user" + std::to_string(i) + "@o.example");
  CHECK(hear("<joe@example.org>", "", {paths.begin(), paths.end()}).reason == Reason::burst);
}

TEST_CASE_METHOD(Braked, "a message that comes again is checked by itself, by the first of its Message-IDs") {
  CHECK(hear("<joe@example.org>", "<1@example.org>").reason == Reason::listed);
  CHECK(hear("<joe@example.org>", "<1@example.org>").reason == Reason::replay);
  CHECK(hear("<joe@example.org>", "<2@example.org>").reason == Reason::listed);
}

TEST_CASE_METHOD(Braked, "without a limit the recipients are not asked for, and nothing is held") {
  brake.set_rules({.floor = {.messages = 0}});
  CHECK_FALSE(braking.wants_recipients());
  for (int i = 0; i < 20; ++i) CHECK(hear("<joe@example.org>").reason == Reason::listed);
}

// A message of zoe's that her domain has signed, as our mail server's milter says.
Mail signed_mail(const std::string& signature) {
  Mail mail = kFromZoe;
  mail.fields.emplace_back("DKIM-Signature", signature);
  mail.fields.emplace_back("Authentication-Results", "mx.example.net; dkim=pass header.d=example.org");
  return mail;
}

class Suspending : public Teaching {
 public:
  explicit Suspending(AuthenticationRule rule = AuthenticationRule::required) : Teaching(rules_with(rule)) {
    set_exact_lists("", "zoe@example.org\n");
    brake.set_rules({.floor = {.messages = 2, .recipients = 9}, .observe = std::chrono::days(0), .suspends = true});
  }

  bool suspends_zoe() {
    brake.work_off();
    return brake.state_of({.sender = "zoe@example.org"}) == Hold::suspended;
  }

 private:
  static JudgeRules rules_with(AuthenticationRule rule) {
    JudgeRules rules = rules_for(IdentityRule::either);
    rules.policy.authentication = rule;
    rules.trusted_authserv_ids = {"mx.example.net"};
    return rules;
  }
};

TEST_CASE_METHOD(Suspending, "a delivered message that the checker calls spam suspends its sender, if it is proven") {
  const std::string signature = fresh_signature("example.org");
  std::atomic<bool> answered = false;
  parts.sampler = std::make_shared<DeliverySampler>(
      1.0,
      [](const auto&, const auto&) {
        DeepResult result;
        result.verdict = DeepVerdict::spam;
        return result;
      },
      [&answered](SampleAnswer, std::string_view) {
        answered = true;
        answered.notify_one();
      },
      DeliverySampler::Limits{});
  ask(DeepVerdict::ham);
  CHECK(hear(signed_mail(signature)).starts_with("deliver; reason=listed-extra"));
  answered.wait(false);
  CHECK(suspends_zoe());
  CHECK(hear(signed_mail(signature)).starts_with("check; reason=suspended"));
}

TEST_CASE_METHOD(Suspending,
                 "so does one that was held and checked, and none that the checker calls ham or that is not proven") {
  const std::string signature = fresh_signature("example.org");
  for (int i = 0; i < 2; ++i) CHECK(hear(signed_mail(signature)).starts_with("deliver"));
  ask(DeepVerdict::ham);
  CHECK(hear(signed_mail(signature)).starts_with("check; reason=burst"));
  ask(DeepVerdict::spam);
  CHECK(hear(kFromZoe).starts_with("check; reason=not-authenticated"));
  CHECK_FALSE(suspends_zoe());
  CHECK(hear(signed_mail(signature)).starts_with("check; reason=burst"));
  CHECK(suspends_zoe());
}

TEST_CASE_METHOD(
    Suspending,
    "a suspended From mailbox is held with any envelope sender of its domain, and if it may be for that user") {
  set_exact_lists("", "@example.org\n");
  edit_suspensions(folder.file("suspended"), std::chrono::sys_seconds(), [](Suspensions& all) {
    all.push_back({.entry = "zoe@example.org", .until = {}, .times = {}, .user = "ann@ours.example"});
  });
  brake.work_off();
  const std::string signature = fresh_signature("example.org");
  Mail mail = signed_mail(signature);
  for (const std::string_view sender : {"zoe@example.org", "x@example.org"}) {
    for (const std::string_view recipient : {"ann@ours.example", "ann+x@ours.example", "ann"}) {
      mail.sender = sender;
      mail.recipients = {"bob@ours.example", recipient};
      CHECK(hear(mail).starts_with("check; reason=suspended"));
    }
    mail.recipients = {"bob@ours.example"};
    CHECK(hear(mail).starts_with("deliver; reason=listed"));
  }
}

TEST_CASE("if no proof is required, a forged message suspends no sender") {
  Suspending parts(AuthenticationRule::off);
  for (int i = 0; i < 2; ++i) CHECK(parts.hear(kFromZoe).starts_with("deliver"));
  parts.ask(DeepVerdict::spam);
  CHECK(parts.hear(kFromZoe).starts_with("check; reason=burst"));
  CHECK_FALSE(parts.suspends_zoe());
}

}  // namespace
}  // namespace bloomgate::test
