// The daemon's parts as the daemon puts them together, without sockets and without libmilter: a message from its MAIL
// command to the answer, with a judge who learns and a checker who says what it is told to say.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "milter/judge/hearing.hpp"
#include "tests/milter/glue/daemon_parts.hpp"

namespace bloomgate::test {

// Senders and users are not authenticated by results; mail of users who have logged in is decided like other mail.
inline JudgeRules rules_for(IdentityRule identity) {
  JudgeRules rules = envelope_rules();
  rules.policy.identity = identity;
  rules.policy.own_domains = read_exact_list("@ours.example\n").list;
  return rules;
}

struct Mail {
  std::string_view sender = "ann@ours.example";
  std::vector<std::string_view> recipients = {"zoe@example.org"};
  std::string_view login = "ann";
  std::vector<std::pair<std::string_view, std::string_view>> fields = {};
  std::string_view body = "Hello.\r\n";
};

inline const Mail kFromZoe = {.sender = "zoe@example.org",
                              .recipients = {"ann@ours.example"},
                              .login = "",
                              .fields = {{"From", "zoe@example.org"}}};

class Teaching : public Parts {
 public:
  explicit Teaching(JudgeRules rules = rules_for(IdentityRule::envelope))
      : learner({.path = folder.file("learned.db"), .keep = std::chrono::days(10)}, log.logger(), 7,
                [this] { return today; }),
        brake({.observe = std::chrono::days(0),
               .path = folder.file("counts"),
               .suspensions_path = folder.file("suspended")},
              log.logger()),
        learning(std::move(rules), slot, results, record, {[this] { ++damage_reports; }, [this] { ++results_reports; }},
                 &learner, &brake) {
    parts.judge = &learning;
    parts.record = &record;
    parts.check_mark = CheckMark::tells_why;
    parts.fallback_host = "mx.example";
    log.logger()->set_level(spdlog::level::warn);
  }

  // What happens while a message is under way, before its end.
  using Meanwhile = std::function<void(MessageRecorder&)>;

  // Returns the mark that the message gets; "untouched" without any edit, and "refused".
  std::string hear(const Mail& mail, const Meanwhile& meanwhile = nullptr) {
    begin(mail);
    if (meanwhile) meanwhile(message);
    const Answer answer = hearing.end_of_message({.queue_id = "Q1", .mta_name = ""});
    std::string mark = "refused";
    if (const auto* const edits = std::get_if<Edits>(&answer)) {
      const bool has_others = edits->forged_marks != 0 || !edits->forged_results.empty() || !edits->results.empty();
      mark = edits->mark != nullptr ? edits->mark : has_others ? "other edits" : "untouched";
    }
    hearing.forget_message();
    message.reset();
    return mark;
  }

  // All of the message but its end.
  void begin(const Mail& mail) {
    message = MessageRecorder(parts.deep_check ? std::optional(parts.deep_check->text_limits()) : std::nullopt);
    message.expect_recipients(parts.want_recipients());
    hearing.begin_message();
    message.begin_message("<" + std::string(mail.sender) + ">", {.login = mail.login, .daemon_name = ""});
    for (const std::string_view path : mail.recipients) message.add_recipient("<" + std::string(path) + ">");
    for (const auto& [name, value] : mail.fields) message.add_header(name, value);
    hearing.end_of_header("");
    hearing.add_body(mail.body);
  }

  void ask(DeepVerdict verdict) {
    parts.deep_check = std::make_shared<DeepCheck>(DeepCheckOptions(), [verdict](const auto&, const auto&) {
      DeepResult result;
      result.verdict = verdict;
      return result;
    });
  }

  bool knows_zoe() const { return learner.is_learned("ann@ours.example", "zoe@example.org"); }

  TemporaryFolder folder;
  LearnedDay today{std::chrono::days(20'780)};
  Learner learner;
  Brake brake;  // not started: its file stays as it is
  Judge learning;
  HearingParts parts;
  MessageRecorder message;
  Hearing hearing{parts, message};
};

}  // namespace bloomgate::test
