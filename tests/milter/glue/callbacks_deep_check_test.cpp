// The callbacks where a deeper check is asked, with answers of our own in the checker's place: tests/e2e has real ones.
#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using Edits = std::vector<std::string>;

// All of a message.
// Not by an assertion of Catch, which knows one thread only: the sampler has its own.
std::string bytes_of(const MessageText& text) {
  std::string whole(static_cast<std::size_t>(text.size()), '\0');
  for (std::size_t done = 0; done < whole.size();) {
    const std::size_t more = text.read(done, std::span(whole).subspan(done));
    if (more == 0) throw std::runtime_error("a message text ends before its size");
    done += more;
  }
  return whole;
}

// What a message was answered with: the first part of its body, and its end.
struct Answers {
  sfsistat body, end;
};

// A checker that says what it is told to say, and keeps what it was asked; and a mail server with a session.
class Checked : public Parts {
 public:
  explicit Checked(DeepCheckOptions options = {}, JudgeRules rules = envelope_rules())
      : Parts(std::move(rules)), deep_check(std::move(options), [this](const auto& envelope, const auto& text) {
          envelopes.push_back(envelope);
          texts.push_back(bytes_of(text));
          before_answer();
          return result;
        }) {
    shared.deep_check = borrowed(deep_check);
    REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  }

  Answers send(const std::string& sender, const std::vector<std::string>& fields = {},
               const std::string& body = "Hello.\r\n") {
    server.mail(sender);
    CHECK(server.recipient("<ann@example.net>") == SMFIS_NOREPLY);
    for (const std::string& name : fields) server.header(name);
    CHECK(server.end_of_header() == SMFIS_NOREPLY);
    const sfsistat answer = server.body(body);
    return {answer, server.end_of_message()};
  }
  const Edits& edits() const noexcept { return server.edits(); }

  DeepResult result;
  std::function<void()> before_answer = [] {};
  std::vector<Envelope> envelopes;
  std::vector<std::string> texts;
  DeepCheck deep_check;
  FakeMailServer server;
};

DeepResult spam() {
  DeepResult result;
  result.verdict = DeepVerdict::spam;
  result.score = 7;
  result.spam_threshold = 5;
  result.server = "spamd:unix:/s";
  return result;
}

TEST_CASE_METHOD(Checked, "a listed message is not shown to the checker, and its body is skipped") {
  const Answers answers = send("<joe@example.org>", {"Subject"});
  CHECK(answers.body == SMFIS_SKIP);
  CHECK(answers.end == SMFIS_CONTINUE);
  CHECK(texts.empty());
  REQUIRE(edits().size() == 1);
  CHECK_THAT(edits()[0], StartsWith("insert 0 deliver; "));
  CHECK_THAT(log.text(), !Contains("deep_check="));
}

TEST_CASE_METHOD(Checked, "the hook for waits is called just before a message waits for the checker, and only then") {
  std::vector<std::string> events;
  shared.before_waiting = [&] { events.push_back("others"); };
  before_answer = [&] { events.push_back("checker"); };
  send("<joe@example.org>");
  CHECK(events.empty());
  send("<ann@example.org>");
  CHECK(events == std::vector<std::string>{"others", "checker"});
}

TEST_CASE_METHOD(Checked, "a mail server that cannot skip a body is not asked to") {
  const auto all_steps = static_cast<unsigned long>(SMFI_CURR_PROT);
  REQUIRE(server.negotiate(SMFI_CURR_ACTS, all_steps & ~static_cast<unsigned long>(SMFIP_SKIP)) == SMFIS_CONTINUE);
  CHECK(send("<joe@example.org>").body == SMFIS_CONTINUE);
  CHECK(texts.empty());
}

TEST_CASE_METHOD(Checked, "an unlisted message is shown to the checker, with its envelope, and without forged fields") {
  server.connect("192.0.2.1");
  server.helo("helo.example");
  server.context().macros["j"] = "mx.example.net";
  server.mail("<ann@example.org>");
  server.recipient("<bob@example.net>");
  server.header("Subject", "one\n two");
  server.header("X-Bloomgate");
  server.header("X-Spam-Flag", "NO");
  server.end_of_header();
  CHECK(server.body("Hello,\r\n") == SMFIS_CONTINUE);
  CHECK(server.body("world.\r\n") == SMFIS_CONTINUE);
  CHECK(server.end_of_message("Q7") == SMFIS_CONTINUE);
  CHECK(texts == Edits{"Subject: one\r\n two\r\n\r\nHello,\r\nworld.\r\n"});
  REQUIRE(envelopes.size() == 1);
  const Envelope& envelope = envelopes[0];
  CHECK(envelope.queue_id == "Q7");
  CHECK(envelope.mta_name == "mx.example.net");
  CHECK(envelope.client_address == "192.0.2.1");
  CHECK(envelope.client_name == "client.example");
  CHECK(envelope.helo == "helo.example");
  CHECK(envelope.sender == "ann@example.org");
  CHECK(envelope.recipients == std::vector<std::string>{"bob@example.net"});
}

TEST_CASE_METHOD(
    Checked, "forged results are removed on both verdicts, and the checker's go in below our mark, in their order") {
  result = spam();
  const std::vector<std::string> forged = {"X-Spam-Flag", "x-spam-flag", "X-Spam-Status", "X-Bloomgate", "Subject"};
  const Edits removals = {"delete 1", "delete X-Spam-Flag 2", "delete X-Spam-Flag 1", "delete X-Spam-Status 1"};

  send("<joe@example.org>", forged);
  Edits made = edits();
  REQUIRE(made.size() == 5);
  CHECK_THAT(made.back(), StartsWith("insert 0 deliver; "));
  made.pop_back();
  CHECK(made == removals);

  send("<ann@example.org>", forged);
  made = edits();
  const std::vector<ResultField> ours = result_fields(result);
  REQUIRE(made.size() == removals.size() + ours.size() + 1);
  CHECK(Edits(made.begin(), made.begin() + 4) == removals);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CHECK(made[made.size() - 2 - i] == "insert 0 " + ours[i].name + " " + ours[i].value);
  }
  CHECK(made.back() == kCheck);
  CHECK_THAT(log.text(), Contains(" forged_headers=1 deep_check=spam score=7.0/5.0 action=tag "
                                  "server=spamd:unix:/s check_ms="));
}

TEST_CASE("exempt mail is not shown to the checker, and keeps the results that it came with") {
  Checked checked({}, {.policy = {.exempt_logged_in = true}, .trusted_authserv_ids = {}});
  checked.server.context().macros["{auth_authen}"] = "joe";
  const Answers answers = checked.send("<ann@example.org>", {"X-Spam-Flag", "X-Bloomgate"});
  CHECK(answers.body == SMFIS_SKIP);
  CHECK(answers.end == SMFIS_CONTINUE);
  CHECK(checked.edits() == Edits{"delete 1"});
  CHECK(checked.texts.empty());
}

TEST_CASE("spam is tagged, held, refused for good or refused for now, as configured") {
  struct Case {
    SpamAction action;
    sfsistat answer;
    std::string_view last_edit;
  };
  const Case cases[] = {
      {SpamAction::tag, SMFIS_CONTINUE, kCheck},
      {SpamAction::quarantine, SMFIS_CONTINUE, "quarantine spam, score 7.0 of 5.0"},
      {SpamAction::reject, SMFIS_REJECT, "reply 550 5.7.1 50%% of it is spam"},
      {SpamAction::tempfail, SMFIS_TEMPFAIL, "reply 451 4.7.1 50%% of it is spam"},
  };
  for (const Case& c : cases) {
    INFO(word_of(c.action));
    Checked checked({.on_spam = c.action});
    checked.result = spam();
    checked.result.smtp_message = "50% of it is spam";
    CHECK(((checked.server.asked_actions() & SMFIF_QUARANTINE) != 0) == (c.action == SpamAction::quarantine));
    CHECK(checked.send("<ann@example.org>", {"X-Spam-Flag"}).end == c.answer);
    REQUIRE_FALSE(checked.edits().empty());
    CHECK(checked.edits().back() == c.last_edit);
    CHECK((checked.edits().size() == 1) == is_refusal(c.action));
    checked.result = {};
    CHECK(checked.send("<ann@example.org>").end == SMFIS_CONTINUE);
  }
}

TEST_CASE("whichever edit fails, the message is refused for now") {
  Checked checked({.on_spam = SpamAction::quarantine});
  checked.result = spam();
  const std::vector<std::string> forged = {"X-Spam-Flag", "X-Spam-Flag", "X-Spam-Status", "X-Bloomgate"};
  REQUIRE(checked.send("<ann@example.org>", forged).end == SMFIS_CONTINUE);
  const Edits all = checked.edits();
  // Four removals, the checker's results, our mark, and the quarantine.
  REQUIRE(all.size() == 4 + result_fields(checked.result).size() + 2);
  CHECK_THAT(all.back(), StartsWith("quarantine "));
  for (const bool once : {false, true}) {
    checked.server.context().fails_once = once;
    for (std::size_t succeed = 0; succeed < all.size(); ++succeed) {
      CAPTURE(once, succeed, all[succeed]);
      checked.server.context().edits_until_failure = static_cast<int>(succeed);
      CHECK(checked.send("<ann@example.org>", forged).end == SMFIS_TEMPFAIL);
      CHECK(checked.edits() == Edits(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(succeed)));
    }
  }
  checked.server.context().edits_until_failure = -1;
  CHECK(checked.send("<ann@example.org>", forged).end == SMFIS_CONTINUE);
}

TEST_CASE("a refusal holds even if the mail server rejects its text") {
  Checked checked({.on_spam = GENERATE(SpamAction::reject, SpamAction::tempfail)});
  const bool for_good = checked.deep_check.options().on_spam == SpamAction::reject;
  checked.result = spam();
  checked.result.smtp_message = std::string(3000, 'x') + "%";
  checked.server.context().edits_until_failure = 0;
  CHECK(checked.send("<ann@example.org>").end == (for_good ? SMFIS_REJECT : SMFIS_TEMPFAIL));
  checked.server.context().edits_until_failure = -1;
  CHECK(checked.send("<ann@example.org>").end == (for_good ? SMFIS_REJECT : SMFIS_TEMPFAIL));
  REQUIRE(checked.edits().size() == 1);
  // libmilter takes less than a line of SMTP (smfi_setreply).
  CHECK(checked.edits()[0].size() < 500);
}

TEST_CASE("if the checker does not answer, the configured action is taken, and the log says why") {
  Checked checked({.on_failure = GENERATE(CheckFailureAction::tempfail, CheckFailureAction::tag)});
  const bool goes_on = checked.deep_check.options().on_failure == CheckFailureAction::tag;
  checked.before_answer = [] { throw std::runtime_error("nobody\nis there"); };
  CHECK(checked.send("<ann@example.org>", {"X-Spam-Status"}).end == (goes_on ? SMFIS_CONTINUE : SMFIS_TEMPFAIL));
  if (goes_on) {
    REQUIRE(checked.edits().size() == 3);
    CHECK(checked.edits()[0] == "delete X-Spam-Status 1");
    CHECK_THAT(checked.edits()[1], StartsWith("insert 0 X-Spam-Status Unknown, "));
    CHECK(checked.edits()[2] == kCheck);
  } else {
    REQUIRE(checked.edits().size() == 1);
    CHECK_THAT(checked.edits()[0], StartsWith("reply 451 4.7.1 "));
  }
  CHECK_THAT(checked.log.text(),
             Contains("warning: deeper check: Q1: nobody\\x0ais there") &&
                 Contains(goes_on ? "deep_check=failed action=tag" : "deep_check=failed action=tempfail"));
  checked.before_answer = [] {};
  CHECK(checked.send("<ann@example.org>").end == SMFIS_CONTINUE);
}

TEST_CASE("without memory for the check a message is treated as if no checker had answered") {
  Checked checked({.on_failure = GENERATE(CheckFailureAction::tempfail, CheckFailureAction::tag)});
  checked.before_answer = [] { throw std::bad_alloc(); };
  const Answers answers = checked.send("<ann@example.org>", {"X-Spam-Status"});
  if (checked.deep_check.options().on_failure == CheckFailureAction::tempfail) {
    CHECK(answers.end == SMFIS_TEMPFAIL);
    return;
  }
  CHECK(answers.end == SMFIS_CONTINUE);
  REQUIRE(checked.edits().size() == 3);
  CHECK_THAT(checked.edits()[1], StartsWith("insert 0 X-Spam-Status Unknown, "));
  CHECK(checked.edits()[2] == "insert 0 check; reason=internal-error");
}

TEST_CASE("a message that cannot be kept is not shown to the checker in part") {
  Checked checked({.memory_bytes = 10, .temporary_folder = "/nonexistent", .on_failure = CheckFailureAction::tempfail});
  CHECK(checked.send("<ann@example.org>", {"Subject"}).end == SMFIS_TEMPFAIL);
  CHECK(checked.texts.empty());
  CHECK_THAT(checked.log.text(), Contains("/nonexistent"));
  CHECK(checked.send("<joe@example.org>").end == SMFIS_CONTINUE);
}

// How many files in that folder this process has open, with a name or without.
int open_files(const std::string& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the one that lists them
    count += std::filesystem::read_symlink(entry, gone).string().starts_with(folder) ? 1 : 0;
  }
  return count;
}

TEST_CASE_METHOD(InFolder, "the file of a long message is removed with the message, however it ends") {
  const std::string path = folder.path().string();
  Checked checked({.memory_bytes = 10, .temporary_folder = path});
  int during = 0;
  checked.before_answer = [&] { during = open_files(path); };
  CHECK(checked.send("<ann@example.org>", {"Subject"}).end == SMFIS_CONTINUE);
  CHECK(during == 1);
  CHECK(open_files(path) == 0);
  checked.server.mail("<ann@example.org>");
  checked.server.header("Subject");
  CHECK(open_files(path) == 1);
  SECTION("RSET") {
    checked.server.abort();
  }
  SECTION("a listed sender after all") {
    checked.server.mail("<joe@example.org>");
    checked.server.header("Subject");
    checked.server.end_of_header();
  }
  CHECK(open_files(path) == 0);
}

TEST_CASE_METHOD(
    Checked, "a message with more than a hundred results and marks is refused for good, and not shown to the checker") {
  std::vector<std::string> names(60, "X-Bloomgate");
  for (int i = 0; i < 40; ++i) names.push_back("X-Spam-" + std::to_string(i));
  CHECK(send("<ann@example.org>", names).end == SMFIS_CONTINUE);
  CHECK(texts.size() == 1);
  names.push_back("x-spam-1");
  for (const char* const sender : {"<joe@example.org>", "<ann@example.org>"}) {
    const Answers answers = send(sender, names);
    CHECK(answers.body == SMFIS_SKIP);
    CHECK(answers.end == SMFIS_REJECT);
    CHECK(edits() == Edits{"reply 550 5.7.1 The message has too many X-Bloomgate or X-Spam header fields"});
  }
  CHECK(texts.size() == 1);
  CHECK_THAT(log.text(), Contains("decision=refuse reason=forged-fields forged_headers=101\n"));
  CHECK(send("<joe@example.org>").end == SMFIS_CONTINUE);
}

TEST_CASE("exempt mail keeps any number of results, and is refused for too many marks") {
  Checked checked({}, {.policy = {.exempt_logged_in = true}, .trusted_authserv_ids = {}});
  checked.server.context().macros["{auth_authen}"] = "joe";
  CHECK(checked.send("<ann@example.org>", std::vector<std::string>(5000, "X-Spam-Flag")).end == SMFIS_CONTINUE);
  CHECK(checked.edits().empty());
  CHECK(checked.send("<ann@example.org>", std::vector<std::string>(101, "X-Bloomgate")).end == SMFIS_REJECT);
}

TEST_CASE_METHOD(Checked, "a message with too many forged fields is refused also without memory") {
  before_answer = [] { throw std::bad_alloc(); };
  CHECK(send("<ann@example.org>", std::vector<std::string>(100, "X-Bloomgate")).end != SMFIS_REJECT);
  CHECK(send("<ann@example.org>", std::vector<std::string>(101, "X-Bloomgate")).end == SMFIS_REJECT);
}

TEST_CASE_METHOD(Checked, "nothing of a message is left for the next one on the connection, which is decided anew") {
  CHECK(send("<joe@example.org>", {"X-Spam-Flag"}).body == SMFIS_SKIP);
  server.mail("<ann@example.org>");
  server.header("X-Spam-Flag");
  server.header("Subject", "old");
  SECTION("RSET before the end of its header") {
    server.abort();
  }
  SECTION("RSET in its body") {
    server.end_of_header();
    server.body("old");
    server.abort();
  }
  SECTION("another MAIL without RSET") {
    server.end_of_header();
  }
  server.mail("<eve@example.org>");
  server.header("Subject", "new");
  server.end_of_header();
  CHECK(server.body("new") == SMFIS_CONTINUE);
  server.end_of_message();
  CHECK(texts == Edits{"Subject: new\r\n\r\nnew"});
  CHECK(edits().size() == result_fields({}).size() + 1);
}

TEST_CASE("a message with a field after the end of its header is not delivered, nor shown to the checker in part") {
  Checked checked({.on_failure = CheckFailureAction::tag});
  checked.server.mail("<joe@example.org>");
  checked.server.end_of_header();
  checked.server.header("X-Bloomgate");
  CHECK(checked.server.body("Hello.\r\n") == SMFIS_SKIP);
  CHECK(checked.server.end_of_message() == SMFIS_CONTINUE);
  REQUIRE(checked.edits().size() == 3);
  CHECK(checked.edits()[0] == "delete 1");
  CHECK_THAT(checked.edits()[1], StartsWith("insert 0 X-Spam-Status Unknown, "));
  CHECK_THAT(checked.edits()[2], StartsWith("insert 0 check; reason=internal-error; "));
  CHECK(checked.texts.empty());
  CHECK_THAT(checked.log.text(), Contains("a header field came behind the end of the header"));
}

TEST_CASE_METHOD(Checked, "a session on the same connection without negotiation does not skip bodies, and is checked") {
  server.close();
  CHECK(send("<joe@example.org>").body == SMFIS_CONTINUE);
  CHECK(send("<ann@example.org>").end == SMFIS_CONTINUE);
  CHECK(texts.size() == 1);
}

TEST_CASE("the log names a failed checker even if another answered, and says what happened to unchecked mail") {
  DeepCheckOptions options;
  MessageRecorder message(DeepCheck(options, [](const Envelope&, const MessageText&) { return spam(); }).text_limits());
  message.begin_message("<joe@example.org>");
  message.end_header(true);
  const DeepCheck answered(options, [](const Envelope&, const MessageText&) {
    DeepResult result = spam();
    result.failures = {"spamd:unix:/first: no answer in time"};
    return result;
  });
  CHECK(answered.check(message, {"Q1", "mx.example.net"}).warnings ==
        std::vector<std::string>{"deeper check: spamd:unix:/first: no answer in time; spamd:unix:/s has answered "
                                 "instead"});
  for (const auto& [on_failure, words] :
       {std::pair{CheckFailureAction::tag, "no answer; the message is delivered unchecked"},
        std::pair{CheckFailureAction::tempfail, "no answer; the message is refused for now"}}) {
    options.on_failure = on_failure;
    const DeepCheck silent(
        options, [](const Envelope&, const MessageText&) -> DeepResult { throw std::runtime_error("no answer"); });
    const auto warnings = silent.check(message, {"Q1", "mx.example.net"}).warnings;
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("Q1") && EndsWith(words));
  }
}

// The checker of the samples is another one; its answers come when it is asked for them.
class Sampled : public Checked {
 public:
  explicit Sampled(DeepCheckOptions options = {}, JudgeRules rules = envelope_rules(), double share = 1)
      : Checked(std::move(options), std::move(rules)),
        sampler(
            share,
            [](const Envelope& envelope, const MessageText& text) {
              DeepResult answer = spam();
              answer.server =
                  envelope.queue_id + "/" + std::to_string(envelope.recipients.size()) + "/" + bytes_of(text);
              return answer;
            },
            [this](SampleAnswer answer, std::string_view line) { note(answer, line); }, {}) {
    shared.sampler = borrowed(sampler);
  }
  ~Sampled() {
    server.close();
    sampler.stop();
  }

  std::vector<SampleAnswer> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(noted_.wait_for(lock, std::chrono::seconds(60), [&] { return answers_.size() >= count; }));
    return answers_;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return answers_.size();
  }
  std::string last_line() {
    const std::lock_guard lock(mutex_);
    return lines_.empty() ? "" : lines_.back();
  }

 private:
  void note(SampleAnswer answer, std::string_view line) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(answer);
    lines_.emplace_back(line);
    noted_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable noted_;
  std::vector<SampleAnswer> answers_;
  std::vector<std::string> lines_;

 public:
  DeliverySampler sampler;
};

TEST_CASE("a delivered message in the sample is shown to the checker, and marked as any other") {
  Sampled s;
  s.shared.before_waiting = [] { FAIL("a sample let the message wait"); };
  const Answers answers = s.send("<joe@example.org>", {"X-Spam-Flag", "Subject"}, "Buy.\r\n");
  CHECK(answers.body == SMFIS_CONTINUE);
  CHECK(answers.end == SMFIS_CONTINUE);
  REQUIRE(s.edits().size() == 2);
  CHECK(s.edits()[0] == "delete X-Spam-Flag 1");
  CHECK_THAT(s.edits()[1], StartsWith("insert 0 deliver; reason=listed; "));
  CHECK(s.wait_for(1) == std::vector{SampleAnswer::spam});
  CHECK_THAT(s.last_line(),
             StartsWith("queue_id=Q1 sender=<joe@example.org> sample=spam score=7.0/5.0 identity=envelope "
                        "whitelist=whitelist header_from=- server=Q1/1/Subject:") &&
                 Contains("Buy."));
  CHECK(s.texts.empty());
  CHECK_THAT(s.log.text(), Contains("decision=deliver") && !Contains("deep_check="));
}

TEST_CASE("a delivered message outside the sample is not kept") {
  Sampled s({}, envelope_rules(), 0);
  CHECK(s.send("<joe@example.org>").body == SMFIS_SKIP);
  CHECK(s.count() == 0);
}

TEST_CASE("checked, refused, exempt and abandoned messages are not sampled") {
  Sampled s({}, {.policy = {.identity = IdentityRule::envelope,
                            .authentication = AuthenticationRule::off,
                            .exempt_logged_in = true,
                            .exempt_action = ExemptAction::deliver},
                 .trusted_authserv_ids = {}});
  s.send("<ann@example.org>");
  CHECK(s.texts.size() == 1);
  s.send("<joe@example.org>", std::vector<std::string>(101, "X-Bloomgate"));
  s.server.mail("<joe@example.org>");
  s.server.header("Subject");
  s.server.end_of_header();
  s.server.body("Hello.");
  s.server.abort();
  s.server.context().macros["{auth_authen}"] = "joe";
  CHECK(s.send("<joe@example.org>").body == SMFIS_SKIP);
  CHECK_THAT(s.edits().back(), StartsWith("insert 0 deliver; "));
  s.server.context().macros.clear();
  // Whatever is asked about comes in its turn.
  s.send("<a@corp.example>");
  CHECK(s.wait_for(1).size() == 1);
  CHECK_THAT(s.last_line(), Contains("<a@corp.example>"));
}

TEST_CASE("a sample whose text cannot be kept is dropped, and its message delivered") {
  Sampled s({.memory_bytes = 10, .temporary_folder = "/nowhere"});
  CHECK(s.send("<joe@example.org>", {"Subject"}).end == SMFIS_CONTINUE);
  CHECK_THAT(s.edits().back(), StartsWith("insert 0 deliver; "));
  CHECK(s.wait_for(1) == std::vector{SampleAnswer::dropped});
}

TEST_CASE_METHOD(InFolder,
                 "the checker is shown the first bytes of a sample that is too long, and its file is removed with it") {
  Sampled s({.max_bytes = 2000, .memory_bytes = 100, .temporary_folder = folder.path().string()});
  s.send("<joe@example.org>", {}, std::string(1000, 'x'));
  CHECK(s.send("<joe@example.org>", {}, std::string(5000, 'y')).body == SMFIS_SKIP);
  s.wait_for(2);
  CHECK(s.last_line().find(std::string(150, 'y')) != std::string::npos);
}

}  // namespace
}  // namespace bloomgate::test
