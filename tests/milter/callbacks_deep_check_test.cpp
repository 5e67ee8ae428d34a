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

#include "milter/callbacks.hpp"
#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/fake_libmilter.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using test::FakeMailServer;
using test::Parts;
using Edits = std::vector<std::string>;

const std::string kMark = "insert 0 check; reason=not-listed; host=fallback.example; identity=envelope";

// A checker that says what it is told to say, and keeps what it was asked.
class Checked {
 public:
  explicit Checked(DeepCheckOptions options = {}, GateRules rules = test::envelope_rules())
      : parts(std::move(rules)), deep_check(std::move(options), [this](const auto& envelope, const auto& text) {
          return answer(envelope, text);
        }) {
    parts.shared.deep_check = &deep_check;
  }

  Parts parts;
  DeepResult result;
  std::function<void()> before_answer = [] {};
  std::vector<Envelope> envelopes;
  std::vector<std::string> texts;
  DeepCheck deep_check;

 private:
  DeepResult answer(const Envelope& envelope, const MessageText& text) {
    envelopes.push_back(envelope);
    std::string whole(static_cast<std::size_t>(text.size()), '\0');
    for (std::size_t done = 0; done < whole.size();) {
      const std::size_t more = text.read(done, std::span(whole).subspan(done));
      REQUIRE(more != 0);
      done += more;
    }
    texts.push_back(whole);
    before_answer();
    return result;
  }
};

DeepResult spam() {
  DeepResult result;
  result.verdict = DeepVerdict::spam;
  result.score = 7;
  result.spam_threshold = 5;
  result.server = "spamd:unix:/s";
  return result;
}

// A whole message; what the body's first part was answered with, and the end of the message.
struct Answers {
  sfsistat body, end;
};

Answers send(FakeMailServer& server, const std::string& sender, const std::vector<std::string>& fields = {},
             const std::string& body = "Hello.\r\n") {
  server.mail(sender);
  CHECK(server.recipient("<ann@example.net>") == SMFIS_NOREPLY);
  for (const std::string& name : fields) server.header(name);
  CHECK(server.end_of_header() == SMFIS_NOREPLY);
  const sfsistat answer = server.body(body);
  return {answer, server.end_of_message()};
}

TEST_CASE("a listed message is not shown to the checker, and its body is skipped") {
  Checked checked;
  FakeMailServer server;
  REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  const Answers answers = send(server, "<joe@example.org>", {"Subject"});
  CHECK(answers.body == SMFIS_SKIP);
  CHECK(answers.end == SMFIS_CONTINUE);
  CHECK(checked.texts.empty());
  REQUIRE(server.edits().size() == 1);
  CHECK_THAT(server.edits()[0], Catch::StartsWith("insert 0 deliver; "));
  CHECK_THAT(checked.parts.log.text(), !Catch::Contains("deep_check="));
}

TEST_CASE("the hook for waits is called just before a message waits for the checker, and only then") {
  Checked checked;
  std::vector<std::string> events;
  checked.parts.shared.before_waiting = [&] { events.push_back("others"); };
  checked.before_answer = [&] { events.push_back("checker"); };
  FakeMailServer server;
  REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  send(server, "<joe@example.org>");
  CHECK(events.empty());
  send(server, "<ann@example.org>");
  CHECK(events == std::vector<std::string>{"others", "checker"});
}

TEST_CASE("a mail server that cannot skip a body is not asked to") {
  Checked checked;
  FakeMailServer server;
  const auto all_steps = static_cast<unsigned long>(SMFI_CURR_PROT);
  REQUIRE(server.negotiate(SMFI_CURR_ACTS, all_steps & ~static_cast<unsigned long>(SMFIP_SKIP)) == SMFIS_CONTINUE);
  CHECK(send(server, "<joe@example.org>").body == SMFIS_CONTINUE);
  CHECK(checked.texts.empty());
}

TEST_CASE("an unlisted message is shown to the checker, with its envelope, and without forged fields") {
  Checked checked;
  FakeMailServer server;
  REQUIRE(server.negotiate() == SMFIS_CONTINUE);
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
  CHECK(checked.texts == Edits{"Subject: one\r\n two\r\n\r\nHello,\r\nworld.\r\n"});
  REQUIRE(checked.envelopes.size() == 1);
  const Envelope& envelope = checked.envelopes[0];
  CHECK(envelope.queue_id == "Q7");
  CHECK(envelope.mta_name == "mx.example.net");
  CHECK(envelope.client_address == "192.0.2.1");
  CHECK(envelope.client_name == "client.example");
  CHECK(envelope.helo == "helo.example");
  CHECK(envelope.sender == "ann@example.org");
  CHECK(envelope.recipients == std::vector<std::string>{"bob@example.net"});
}

TEST_CASE("forged results are removed on both verdicts, and the checker's go in below our mark, in their order") {
  Checked checked;
  checked.result = spam();
  FakeMailServer server;
  server.negotiate();
  const std::vector<std::string> forged = {"X-Spam-Flag", "x-spam-flag", "X-Spam-Status", "X-Bloomgate", "Subject"};
  const Edits removals = {"delete 1", "delete X-Spam-Flag 2", "delete X-Spam-Flag 1", "delete X-Spam-Status 1"};

  send(server, "<joe@example.org>", forged);
  Edits edits = server.edits();
  REQUIRE(edits.size() == 5);
  CHECK_THAT(edits.back(), Catch::StartsWith("insert 0 deliver; "));
  edits.pop_back();
  CHECK(edits == removals);

  send(server, "<ann@example.org>", forged);
  edits = server.edits();
  const std::vector<ResultField> results = result_fields(checked.result);
  REQUIRE(edits.size() == removals.size() + results.size() + 1);
  CHECK(Edits(edits.begin(), edits.begin() + 4) == removals);
  for (std::size_t i = 0; i < results.size(); ++i) {
    CHECK(edits[edits.size() - 2 - i] == "insert 0 " + results[i].name + " " + results[i].value);
  }
  CHECK(edits.back() == kMark);
  CHECK_THAT(checked.parts.log.text(), Catch::Contains(" forged_headers=1 deep_check=spam score=7.0/5.0 action=tag "
                                                       "server=spamd:unix:/s check_ms="));
}

TEST_CASE("exempt mail is not shown to the checker, and keeps the results that it came with") {
  Checked checked({}, {.policy = {.exempt_logged_in = true}, .trusted_authserv_ids = {}});
  FakeMailServer server;
  server.negotiate();
  server.context().macros["{auth_authen}"] = "joe";
  const Answers answers = send(server, "<ann@example.org>", {"X-Spam-Flag", "X-Bloomgate"});
  CHECK(answers.body == SMFIS_SKIP);
  CHECK(answers.end == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{"delete 1"});
  CHECK(checked.texts.empty());
}

TEST_CASE("spam is tagged, held, refused for good or refused for now, as configured") {
  struct Case {
    SpamAction action;
    sfsistat answer;
    std::string_view last_edit;
  };
  const Case cases[] = {
      {SpamAction::tag, SMFIS_CONTINUE, kMark},
      {SpamAction::quarantine, SMFIS_CONTINUE, "quarantine spam, score 7.0 of 5.0"},
      {SpamAction::reject, SMFIS_REJECT, "reply 550 5.7.1 50%% of it is spam"},
      {SpamAction::tempfail, SMFIS_TEMPFAIL, "reply 451 4.7.1 50%% of it is spam"},
  };
  for (const Case& c : cases) {
    INFO(spam_action_name(c.action));
    Checked checked({.on_spam = c.action});
    checked.result = spam();
    checked.result.smtp_message = "50% of it is spam";
    FakeMailServer server;
    REQUIRE(server.negotiate() == SMFIS_CONTINUE);
    CHECK(((server.asked_actions() & SMFIF_QUARANTINE) != 0) == (c.action == SpamAction::quarantine));
    CHECK(send(server, "<ann@example.org>", {"X-Spam-Flag"}).end == c.answer);
    REQUIRE_FALSE(server.edits().empty());
    CHECK(server.edits().back() == c.last_edit);
    CHECK((server.edits().size() == 1) == is_refusal(c.action));
    checked.result = {};
    CHECK(send(server, "<ann@example.org>").end == SMFIS_CONTINUE);
  }
}

TEST_CASE("whichever edit fails, the message is refused for now") {
  Checked checked({.on_spam = SpamAction::quarantine});
  checked.result = spam();
  FakeMailServer server;
  server.negotiate();
  const std::vector<std::string> forged = {"X-Spam-Flag", "X-Spam-Flag", "X-Spam-Status", "X-Bloomgate"};
  REQUIRE(send(server, "<ann@example.org>", forged).end == SMFIS_CONTINUE);
  const Edits all = server.edits();
  // Four removals, the checker's results, our mark, and the quarantine.
  REQUIRE(all.size() == 4 + result_fields(checked.result).size() + 2);
  CHECK_THAT(all.back(), Catch::StartsWith("quarantine "));
  for (const bool once : {false, true}) {
    server.context().fails_once = once;
    for (std::size_t succeed = 0; succeed < all.size(); ++succeed) {
      CAPTURE(once, succeed, all[succeed]);
      server.context().edits_until_failure = static_cast<int>(succeed);
      CHECK(send(server, "<ann@example.org>", forged).end == SMFIS_TEMPFAIL);
      CHECK(server.edits() == Edits(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(succeed)));
    }
  }
  server.context().edits_until_failure = -1;
  CHECK(send(server, "<ann@example.org>", forged).end == SMFIS_CONTINUE);
}

TEST_CASE("a refusal holds even if the mail server rejects its text") {
  Checked checked({.on_spam = GENERATE(SpamAction::reject, SpamAction::tempfail)});
  const bool for_good = checked.deep_check.options().on_spam == SpamAction::reject;
  checked.result = spam();
  checked.result.smtp_message = std::string(3000, 'x') + "%";
  FakeMailServer server;
  server.negotiate();
  server.context().edits_until_failure = 0;
  CHECK(send(server, "<ann@example.org>").end == (for_good ? SMFIS_REJECT : SMFIS_TEMPFAIL));
  server.context().edits_until_failure = -1;
  CHECK(send(server, "<ann@example.org>").end == (for_good ? SMFIS_REJECT : SMFIS_TEMPFAIL));
  REQUIRE(server.edits().size() == 1);
  // libmilter takes less than a line of SMTP (smfi_setreply).
  CHECK(server.edits()[0].size() < 500);
}

TEST_CASE("if the checker does not answer, the configured action is taken, and the log says why") {
  Checked checked({.on_failure = GENERATE(CheckFailureAction::tempfail, CheckFailureAction::tag)});
  const bool goes_on = checked.deep_check.options().on_failure == CheckFailureAction::tag;
  checked.before_answer = [] { throw std::runtime_error("nobody\nis there"); };
  FakeMailServer server;
  server.negotiate();
  CHECK(send(server, "<ann@example.org>", {"X-Spam-Status"}).end == (goes_on ? SMFIS_CONTINUE : SMFIS_TEMPFAIL));
  if (goes_on) {
    REQUIRE(server.edits().size() == 3);
    CHECK(server.edits()[0] == "delete X-Spam-Status 1");
    CHECK_THAT(server.edits()[1], Catch::StartsWith("insert 0 X-Spam-Status Unknown, "));
    CHECK(server.edits()[2] == kMark);
  } else {
    REQUIRE(server.edits().size() == 1);
    CHECK_THAT(server.edits()[0], Catch::StartsWith("reply 451 4.7.1 "));
  }
  CHECK_THAT(checked.parts.log.text(),
             Catch::Contains("warning: deeper check: Q1: nobody\\x0ais there") &&
                 Catch::Contains(goes_on ? "deep_check=failed action=tag" : "deep_check=failed action=tempfail"));
  checked.before_answer = [] {};
  CHECK(send(server, "<ann@example.org>").end == SMFIS_CONTINUE);
}

TEST_CASE("without memory for the check a message is treated as if no checker had answered") {
  Checked checked({.on_failure = GENERATE(CheckFailureAction::tempfail, CheckFailureAction::tag)});
  checked.before_answer = [] { throw std::bad_alloc(); };
  FakeMailServer server;
  server.negotiate();
  const Answers answers = send(server, "<ann@example.org>", {"X-Spam-Status"});
  if (checked.deep_check.options().on_failure == CheckFailureAction::tempfail) {
    CHECK(answers.end == SMFIS_TEMPFAIL);
    return;
  }
  CHECK(answers.end == SMFIS_CONTINUE);
  REQUIRE(server.edits().size() == 3);
  CHECK_THAT(server.edits()[1], Catch::StartsWith("insert 0 X-Spam-Status Unknown, "));
  CHECK(server.edits()[2] == "insert 0 check; reason=internal-error");
}

TEST_CASE("a message that cannot be kept is not shown to the checker in part") {
  Checked checked({.memory_bytes = 10, .temporary_folder = "/nonexistent", .on_failure = CheckFailureAction::tempfail});
  FakeMailServer server;
  server.negotiate();
  CHECK(send(server, "<ann@example.org>", {"Subject"}).end == SMFIS_TEMPFAIL);
  CHECK(checked.texts.empty());
  CHECK_THAT(checked.parts.log.text(), Catch::Contains("/nonexistent"));
  CHECK(send(server, "<joe@example.org>").end == SMFIS_CONTINUE);
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

TEST_CASE("the file of a long message is removed with the message, however it ends") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path().string();
  Checked checked({.memory_bytes = 10, .temporary_folder = path});
  int during = 0;
  checked.before_answer = [&] { during = open_files(path); };
  FakeMailServer server;
  server.negotiate();
  CHECK(send(server, "<ann@example.org>", {"Subject"}).end == SMFIS_CONTINUE);
  CHECK(during == 1);
  CHECK(open_files(path) == 0);
  server.mail("<ann@example.org>");
  server.header("Subject");
  CHECK(open_files(path) == 1);
  SECTION("RSET") {
    server.abort();
  }
  SECTION("a listed sender after all") {
    server.mail("<joe@example.org>");
    server.header("Subject");
    server.end_of_header();
  }
  CHECK(open_files(path) == 0);
}

TEST_CASE("a message with more than a hundred results and marks is refused for good, and not shown to the checker") {
  Checked checked;
  FakeMailServer server;
  server.negotiate();
  std::vector<std::string> names(60, "X-Bloomgate");
  for (int i = 0; i < 40; ++i) names.push_back("X-Spam-" + std::to_string(i));
  CHECK(send(server, "<ann@example.org>", names).end == SMFIS_CONTINUE);
  CHECK(checked.texts.size() == 1);
  names.push_back("x-spam-1");
  for (const char* const sender : {"<joe@example.org>", "<ann@example.org>"}) {
    const Answers answers = send(server, sender, names);
    CHECK(answers.body == SMFIS_SKIP);
    CHECK(answers.end == SMFIS_REJECT);
    CHECK(server.edits() == Edits{"reply 550 5.7.1 The message has too many X-Bloomgate or X-Spam header fields"});
  }
  CHECK(checked.texts.size() == 1);
  CHECK_THAT(checked.parts.log.text(), Catch::Contains("decision=refuse reason=forged-fields forged_headers=101\n"));
  CHECK(send(server, "<joe@example.org>").end == SMFIS_CONTINUE);
}

TEST_CASE("exempt mail keeps any number of results, and is refused for too many marks") {
  Checked checked({}, {.policy = {.exempt_logged_in = true}, .trusted_authserv_ids = {}});
  FakeMailServer server;
  server.negotiate();
  server.context().macros["{auth_authen}"] = "joe";
  CHECK(send(server, "<ann@example.org>", std::vector<std::string>(5000, "X-Spam-Flag")).end == SMFIS_CONTINUE);
  CHECK(server.edits().empty());
  CHECK(send(server, "<ann@example.org>", std::vector<std::string>(101, "X-Bloomgate")).end == SMFIS_REJECT);
}

TEST_CASE("a message with too many forged fields is refused also without memory") {
  Checked checked;
  checked.before_answer = [] { throw std::bad_alloc(); };
  FakeMailServer server;
  server.negotiate();
  CHECK(send(server, "<ann@example.org>", std::vector<std::string>(100, "X-Bloomgate")).end != SMFIS_REJECT);
  CHECK(send(server, "<ann@example.org>", std::vector<std::string>(101, "X-Bloomgate")).end == SMFIS_REJECT);
}

TEST_CASE("nothing of a message is left for the next one on the connection, which is decided anew") {
  Checked checked;
  FakeMailServer server;
  server.negotiate();
  CHECK(send(server, "<joe@example.org>", {"X-Spam-Flag"}).body == SMFIS_SKIP);
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
  CHECK(checked.texts == Edits{"Subject: new\r\n\r\nnew"});
  CHECK(server.edits().size() == result_fields({}).size() + 1);
}

TEST_CASE("a message with a field behind the end of its header is not delivered, nor shown to the checker in part") {
  Checked checked({.on_failure = CheckFailureAction::tag});
  FakeMailServer server;
  server.negotiate();
  server.mail("<joe@example.org>");
  server.end_of_header();
  server.header("X-Bloomgate");
  CHECK(server.body("Hello.\r\n") == SMFIS_SKIP);
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  REQUIRE(server.edits().size() == 3);
  CHECK(server.edits()[0] == "delete 1");
  CHECK_THAT(server.edits()[1], Catch::StartsWith("insert 0 X-Spam-Status Unknown, "));
  CHECK_THAT(server.edits()[2], Catch::StartsWith("insert 0 check; reason=internal-error; "));
  CHECK(checked.texts.empty());
  CHECK_THAT(checked.parts.log.text(), Catch::Contains("a header field came behind the end of the header"));
}

TEST_CASE("a session on the same connection without negotiation does not skip bodies, and is checked") {
  Checked checked;
  FakeMailServer server;
  server.negotiate();
  server.close();
  CHECK(send(server, "<joe@example.org>").body == SMFIS_CONTINUE);
  CHECK(send(server, "<ann@example.org>").end == SMFIS_CONTINUE);
  CHECK(checked.texts.size() == 1);
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
       {std::pair{CheckFailureAction::tag, "no answer; the message goes on unchecked"},
        std::pair{CheckFailureAction::tempfail, "no answer; the message is refused for now"}}) {
    options.on_failure = on_failure;
    const DeepCheck silent(
        options, [](const Envelope&, const MessageText&) -> DeepResult { throw std::runtime_error("no answer"); });
    const auto warnings = silent.check(message, {"Q1", "mx.example.net"}).warnings;
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Catch::Contains("Q1") && Catch::EndsWith(words));
  }
}

// The checker of the samples is another one; its answers come when it is asked for them.
class Sampled {
 public:
  explicit Sampled(DeepCheckOptions options = {}, GateRules rules = test::envelope_rules(), double share = 1)
      : checked(std::move(options), std::move(rules)),
        sampler(
            share,
            [](const Envelope& envelope, const MessageText& text) {
              std::string whole(static_cast<std::size_t>(text.size()), '\0');
              for (std::size_t done = 0; done < whole.size();) done += text.read(done, std::span(whole).subspan(done));
              DeepResult result = spam();
              result.server = envelope.queue_id + "/" + std::to_string(envelope.recipients.size()) + "/" + whole;
              return result;
            },
            [this](SampleAnswer answer, std::string_view line) { note(answer, line); }, {}) {
    checked.parts.shared.sampler = &sampler;
  }
  ~Sampled() { sampler.stop(); }

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

  Checked checked;

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
  s.checked.parts.shared.before_waiting = [] { FAIL("a sample let the message wait"); };
  FakeMailServer server;
  REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  const Answers answers = send(server, "<joe@example.org>", {"X-Spam-Flag", "Subject"}, "Buy.\r\n");
  CHECK(answers.body == SMFIS_CONTINUE);
  CHECK(answers.end == SMFIS_CONTINUE);
  REQUIRE(server.edits().size() == 2);
  CHECK(server.edits()[0] == "delete X-Spam-Flag 1");
  CHECK_THAT(server.edits()[1], Catch::StartsWith("insert 0 deliver; reason=listed; "));
  CHECK(s.wait_for(1) == std::vector{SampleAnswer::spam});
  CHECK_THAT(s.last_line(),
             Catch::StartsWith("queue_id=Q1 sender=<joe@example.org> sample=spam score=7.0/5.0 identity=envelope "
                               "whitelist=whitelist header_from=- server=Q1/1/Subject:") &&
                 Catch::Contains("Buy."));
  CHECK(s.checked.texts.empty());
  CHECK_THAT(s.checked.parts.log.text(), Catch::Contains("decision=deliver") && !Catch::Contains("deep_check="));
}

TEST_CASE("a delivered message outside the sample is not kept") {
  Sampled s({}, test::envelope_rules(), 0);
  FakeMailServer server;
  server.negotiate();
  CHECK(send(server, "<joe@example.org>").body == SMFIS_SKIP);
  CHECK(s.count() == 0);
}

TEST_CASE("checked, refused, exempt and abandoned messages are not sampled") {
  Sampled s({}, {.policy = {.identity = IdentityRule::envelope,
                            .authentication = AuthenticationRule::off,
                            .exempt_logged_in = true,
                            .exempt_action = ExemptAction::deliver},
                 .trusted_authserv_ids = {}});
  FakeMailServer server;
  server.negotiate();
  send(server, "<ann@example.org>");
  CHECK(s.checked.texts.size() == 1);
  send(server, "<joe@example.org>", std::vector<std::string>(101, "X-Bloomgate"));
  server.mail("<joe@example.org>");
  server.header("Subject");
  server.end_of_header();
  server.body("Hello.");
  server.abort();
  server.context().macros["{auth_authen}"] = "joe";
  CHECK(send(server, "<joe@example.org>").body == SMFIS_SKIP);
  CHECK_THAT(server.edits().back(), Catch::StartsWith("insert 0 deliver; "));
  server.context().macros.clear();
  // Whatever is asked about comes in its turn.
  send(server, "<a@corp.example>");
  CHECK(s.wait_for(1).size() == 1);
  CHECK_THAT(s.last_line(), Catch::Contains("<a@corp.example>"));
}

TEST_CASE("a sample whose text cannot be kept is dropped, and its message delivered") {
  Sampled s({.memory_bytes = 10, .temporary_folder = "/nowhere"});
  FakeMailServer server;
  server.negotiate();
  CHECK(send(server, "<joe@example.org>", {"Subject"}).end == SMFIS_CONTINUE);
  CHECK_THAT(server.edits().back(), Catch::StartsWith("insert 0 deliver; "));
  CHECK(s.wait_for(1) == std::vector{SampleAnswer::dropped});
}

TEST_CASE("the checker is shown the first bytes of a sample that is too long, and its file is removed with it") {
  const test::TemporaryFolder folder;
  Sampled s({.max_bytes = 2000, .memory_bytes = 100, .temporary_folder = folder.path().string()});
  FakeMailServer server;
  server.negotiate();
  send(server, "<joe@example.org>", {}, std::string(1000, 'x'));
  CHECK(send(server, "<joe@example.org>", {}, std::string(5000, 'y')).body == SMFIS_SKIP);
  s.wait_for(2);
  CHECK(s.last_line().find(std::string(150, 'y')) != std::string::npos);
}

}  // namespace
}  // namespace bloomgate
