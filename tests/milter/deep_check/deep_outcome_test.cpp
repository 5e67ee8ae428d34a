#include "milter/deep_check/deep_outcome.hpp"

#include <algorithm>
#include <string>

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;

DeepResult result_with(DeepVerdict verdict) {
  DeepResult result;
  result.verdict = verdict;
  result.score = 12.34;
  result.spam_threshold = 5;
  result.server = "spamd:unix:/run/spamd.sock";
  return result;
}

TEST_CASE("each verdict of a checker has the action that the operator has chosen for it") {
  DeepCheckOptions options;
  options.on_spam = SpamAction::quarantine;
  options.on_reject = SpamAction::tempfail;
  options.on_soft_reject = SpamAction::reject;
  struct Case {
    std::string_view name;
    DeepVerdict verdict;
    SpamAction chosen, by_default;
    std::string_view words;
  };
  const Case cases[] = {
      {"ham", DeepVerdict::ham, SpamAction::tag, SpamAction::tag, "deep_check=ham "},
      {"spam", DeepVerdict::spam, SpamAction::quarantine, SpamAction::tag, "deep_check=spam "},
      {"to be put off", DeepVerdict::soft_reject, SpamAction::reject, SpamAction::tempfail, "deep_check=soft-reject "},
      {"to be rejected", DeepVerdict::reject, SpamAction::tempfail, SpamAction::reject, "deep_check=reject "},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const DeepOutcome chosen = outcome_of(result_with(c.verdict), options, 42ms);
    CHECK(chosen.action == c.chosen);
    CHECK(chosen.log == std::string(c.words) + "score=12.3/5.0 action=" + std::string(word_of(c.chosen)) +
                            " server=spamd:unix:/run/spamd.sock check_ms=42");
    CHECK(outcome_of(result_with(c.verdict), {}, 42ms).action == c.by_default);
  }
}

TEST_CASE("each action has the name that an operator gives it") {
  CHECK(word_of(SpamAction::tag) == "tag");
  CHECK(word_of(SpamAction::quarantine) == "quarantine");
  CHECK(word_of(SpamAction::reject) == "reject");
  CHECK(word_of(SpamAction::tempfail) == "tempfail");
}

TEST_CASE("the name of a server is one short word of a log line, whatever it contains") {
  DeepResult result = result_with(DeepVerdict::ham);
  result.server = "http://checker/a b\n\x1b[31m";
  std::string log = outcome_of(result, {}, 1ms).log;
  CHECK_THAT(log, EndsWith(" check_ms=1"));
  CHECK(log.find_first_of("\n\x1b") == std::string::npos);
  CHECK(std::ranges::count(log, ' ') == 4);
  result.server = std::string(5000, 'x');
  log = outcome_of(result, {}, 1ms).log;
  CHECK(log.size() < 400);
}

TEST_CASE("the client gets the checker's text, or else that the message looks like spam or should come again") {
  DeepResult result = result_with(DeepVerdict::reject);
  CHECK_THAT(outcome_of(result, {}, 0ms).reply, Contains("looks like spam"));
  CHECK_THAT(outcome_of(result_with(DeepVerdict::soft_reject), {}, 0ms).reply, Contains("try again later"));
  for (const auto& [told, reply] : {std::pair{"Gtube pattern", "Gtube pattern"},
                                    {"4.7.1 Try again", "Try again"},
                                    {"5.7.123 Go away", "Go away"},
                                    {"5.7.1", "5.7.1"},
                                    {"4.7. Try again", "4.7. Try again"},
                                    {"4.7.1  Try again", " Try again"},
                                    {"127.0.0.1 is listed", "127.0.0.1 is listed"},
                                    {"5.1.2.3 is listed", "5.1.2.3 is listed"},
                                    {"1.2.3 is a version", "1.2.3 is a version"},
                                    {"4..1 points", "4..1 points"},
                                    {"5.11. Go away", "5.11. Go away"},
                                    {"5.7.1: Go away", "5.7.1: Go away"},
                                    {"5.7.1\tGo away", "5.7.1\tGo away"},
                                    {"5.5 points", "5.5 points"}}) {
    result.smtp_message = told;
    CHECK(outcome_of(result, {}, 0ms).reply == reply);
  }
}

TEST_CASE("a message passes with the checker's fields") {
  const DeepResult result = result_with(DeepVerdict::spam);
  CHECK(outcome_of(result, {}, 0ms).fields == result_fields(result));
  CHECK(outcome_of(result, {}, 0ms).quarantine_reason == "spam, score 12.3 of 5.0");
}

TEST_CASE("if no checker answers, a message is refused temporarily, or passes as unknown") {
  DeepCheckOptions options;
  options.on_failure = CheckFailureAction::tempfail;
  const DeepOutcome refused = outcome_of_failure(options, 7ms);
  CHECK(refused.action == SpamAction::tempfail);
  CHECK_THAT(refused.reply, Contains("try again later"));
  CHECK(refused.log == "deep_check=failed action=tempfail check_ms=7");
  options.on_failure = CheckFailureAction::tag;
  const DeepOutcome unknown = outcome_of_failure(options, 7ms);
  CHECK(unknown.action == SpamAction::tag);
  CHECK(unknown.log == "deep_check=failed action=tag check_ms=7");
  REQUIRE(unknown.fields.size() == 1);
  CHECK(unknown.fields[0].name == "X-Spam-Status");
  CHECK_THAT(unknown.fields[0].value, StartsWith("Unknown"));
}

}  // namespace
}  // namespace bloomgate::test
