// The callbacks where signatures are verified, with outcomes of our own: tests/milter/dkim has real ones.
#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>

#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fresh_signature.hpp"

namespace bloomgate::test {
namespace {

using Edits = std::vector<std::string>;

JudgeRules verifying_rules() {
  JudgeRules rules = envelope_rules();
  rules.policy.authentication = AuthenticationRule::required;
  rules.policy.dmarc_fail_vetoes = false;
  rules.policy.verify_signatures = true;
  rules.trusts_mta_name = false;
  return rules;
}

// A verifier that says what it is told to say, and keeps what it was given.
class Verifying : public Verifier, public Parts {
 public:
  explicit Verifying(const JudgeRules& rules = verifying_rules()) : Parts(rules) {
    shared.verifier = borrowed<Verifier>(*this);
    shared.before_waiting = [this] { ++waits; };
    REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  }

  std::unique_ptr<Verification> begin(const VerifyRequest& request) override {
    ++begun;
    for (const std::string_view field : request.header) header += std::string(field) + "|";
    return std::make_unique<Message>(*this);
  }

  // Up to the From field of a message.
  void begin_from_joe() {
    server.connect();
    server.mail("<joe@example.org>");
    server.header("From", "joe@example.org");
  }

  // A message of two pieces; how the first was taken.
  sfsistat send(const std::string& sender) {
    server.connect();
    server.mail(sender);
    server.header("From", "joe@example.org");
    server.header("Subject", "it is\n\tfolded");
    server.header("X-Bloomgate", "deliver");
    server.end_of_header();
    const sfsistat first = server.body("Hello.\r\n");
    if (first == SMFIS_CONTINUE) server.body("Bye.\r\n");
    REQUIRE(server.end_of_message() == SMFIS_CONTINUE);
    return first;
  }

  // With a checker, which finds spam.
  void ask_checker() {
    DeepCheckOptions options;
    options.max_bytes = 1'000'000;
    options.memory_bytes = 1'000'000;
    deep_check.emplace(options, [this](const Envelope&, const MessageText& text) {
      std::string whole(static_cast<std::size_t>(text.size()), '\0');
      static_cast<void>(text.read(0, std::span(whole)));
      checked = whole;
      return DeepResult{};
    });
    shared.deep_check = borrowed(*deep_check);
    REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  }

  std::optional<DeepCheck> deep_check;
  Signatures outcome = {.all = {{.outcome = SignatureOutcome::pass, .domain = "example.org", .selector = "s1"}}};
  bool is_known_at_once = false;
  int begun = 0, waits = 0;
  std::string header, body, checked;
  FakeMailServer server;

 private:
  class Message : public Verification {
   public:
    explicit Message(Verifying& owner) : owner_(owner) {}
    bool add_body(std::string_view bytes) noexcept override {
      owner_.body += bytes;
      return true;
    }
    bool is_over() const noexcept override { return owner_.is_known_at_once; }
    Signatures finish() noexcept override { return owner_.outcome; }

   private:
    Verifying& owner_;
  };
};

TEST_CASE_METHOD(Verifying,
                 "a listed sender whose signature passes is delivered, by the header and the body as they were sent") {
  CHECK(send("<joe@example.org>") == SMFIS_CONTINUE);
  CHECK(header == "From: joe@example.org|Subject: it is\r\n\tfolded|X-Bloomgate: deliver|");
  CHECK(body == "Hello.\r\nBye.\r\n");
  CHECK(waits == 1);
  CHECK(server.edits() == Edits{"delete 1",
                                "insert 0 deliver; reason=listed; host=fallback.example; identity=envelope; "
                                "authentication=dkim; proof=same-from; whitelist=whitelist"});
  CHECK_THAT(log.text(), Contains(" dkim=pass domain=example.org selector=s1"));
}

TEST_CASE("a valid signature that the owner's rule excludes is in the log, with the rule as its outcome") {
  JudgeRules rules = verifying_rules();
  rules.policy.alignment = Alignment::relaxed;
  Verifying verifying(rules);
  verifying.outcome = {
      .all = {{.outcome = SignatureOutcome::expired, .domain = "mg.example.org", .selector = "s2"},
              {.outcome = SignatureOutcome::pass, .domain = "news.example.org", .selector = "s3"}},
      .owner_rules = {{"example.org", "news.example.org", SignatureOutcome::other_domain_not_allowed}}};
  verifying.send("<joe@example.org>");
  CHECK_THAT(verifying.server.edits().back(), Contains("; dkim=other-domain-not-allowed"));
  CHECK_THAT(verifying.log.text(), Contains(" dkim=other-domain-not-allowed domain=news.example.org selector=s3"));
}

TEST_CASE_METHOD(Verifying, "a child of a listed sender's domain that signs is named in the log") {
  outcome = {};
  begin_from_joe();
  server.header("DKIM-Signature", fresh_signature("mg.example.org"));
  server.end_of_header();
  REQUIRE(server.end_of_message() == SMFIS_CONTINUE);
  CHECK_THAT(log.text(), Contains("reason=not-authenticated") && Contains(" child_signer=mg.example.org"));
}

TEST_CASE_METHOD(Verifying, "other domains that have signed a listed sender's message are named in the log") {
  outcome = {};
  begin_from_joe();
  server.header("DKIM-Signature", fresh_signature("esp.example"));
  server.header("DKIM-Signature", fresh_signature("other.example"));
  server.end_of_header();
  REQUIRE(server.end_of_message() == SMFIS_CONTINUE);
  CHECK_THAT(log.text(), Contains(" dkim=no-signature signed_by=esp.example signed_by=other.example\n"));
  CHECK_THAT(server.edits().back(), !Contains("esp.example"));
}

TEST_CASE_METHOD(Verifying,
                 "if the mail server removes the space after a colon, the verifier gets fields with one space") {
  REQUIRE(server.negotiate(SMFI_CURR_ACTS, SMFI_CURR_PROT & ~static_cast<unsigned long>(SMFIP_HDR_LEADSPC)) ==
          SMFIS_CONTINUE);
  send("<joe@example.org>");
  CHECK(header == "From: joe@example.org|Subject: it is\r\n\tfolded|X-Bloomgate: deliver|");
  CHECK_THAT(server.edits().back(), Contains("insert 0 deliver; "));
}

TEST_CASE_METHOD(Verifying, "a passed signature does not count for another message, also after an abandoned one") {
  begin_from_joe();
  server.header("Subject", "given up");
  server.end_of_header();
  server.body("Hello.\r\n");
  server.abort();
  REQUIRE(begun == 1);
  // Of this one nothing is verified.
  server.mail("<joe@example.org>");
  server.header("From", "joe@example.org");
  server.header("X-Large", std::string(MessageRecorder::kMaxKeptHeaderBytes, 'x'));
  server.end_of_header();
  server.body("Bye.\r\n");
  REQUIRE(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(begun == 1);
  CHECK(body == "Hello.\r\n");
  CHECK_THAT(server.edits().back(), Contains("insert 0 check; "));
}

TEST_CASE_METHOD(Verifying,
                 "for an unlisted sender no signature is verified, and the body is skipped at its first piece") {
  CHECK(send("<x@other.example>") == SMFIS_SKIP);
  CHECK(begun == 0);
  CHECK(waits == 0);
}

TEST_CASE_METHOD(Verifying, "if the outcome is known with the header, the body is skipped without a wait") {
  is_known_at_once = true;
  outcome = {};
  CHECK(send("<joe@example.org>") == SMFIS_SKIP);
  CHECK(waits == 0);
  CHECK_THAT(server.edits().back(), Contains("check; reason=not-authenticated") && Contains("; dkim=no-signature"));
}

TEST_CASE_METHOD(
    Verifying, "a checker sees the whole of a message whose signature does not pass, and nothing of one that passes") {
  ask_checker();
  send("<joe@example.org>");
  CHECK(checked.empty());
  outcome.all[0].outcome = SignatureOutcome::body_changed;
  send("<joe@example.org>");
  CHECK(checked == "From: joe@example.org\r\nSubject: it is\r\n\tfolded\r\n\r\nHello.\r\nBye.\r\n");
  CHECK_THAT(server.edits().back(), Contains("; dkim=body-changed"));
}

TEST_CASE_METHOD(Verifying, "a message whose header exceeds the limit is not verified") {
  for (const bool by_number : {true, false}) {
    begin_from_joe();
    for (int i = 0; i < (by_number ? 1001 : 5); ++i) server.header("X", std::string(by_number ? 1 : 60'000, 'x'));
    server.end_of_header();
    server.end_of_message();
    CHECK_THAT(server.edits().back(), Contains("; dkim=header-too-large"));
  }
  CHECK(begun == 0);
  send("<joe@example.org>");  // the next one is
  CHECK(begun == 1);
}

TEST_CASE_METHOD(Verifying, "no signature is verified of a message that is refused") {
  for (const bool is_refused : {false, true}) {
    server.mail("<joe@example.org>");
    server.header("From", "joe@example.org");
    for (int i = 0; is_refused && i <= 100; ++i) server.header("X-Bloomgate", "deliver");
    server.end_of_header();
    CHECK(server.end_of_message() == (is_refused ? SMFIS_REJECT : SMFIS_CONTINUE));
    CHECK(begun == 1);
  }
}

TEST_CASE_METHOD(Verifying, "results in the mail server's own name are not believed without configuration") {
  is_known_at_once = true;
  outcome = {};
  server.context().macros["j"] = "mx.example.net";
  begin_from_joe();
  server.header("Authentication-Results", "mx.example.net; dkim=pass header.d=example.org");
  server.header("DKIM-Signature", test::fresh_signature("example.org"));
  server.end_of_header();
  server.end_of_message();
  CHECK_THAT(server.edits().back(), Contains("check; reason=not-authenticated"));
}

// Drawn with its header, when it is not yet known whether it will be delivered.
TEST_CASE_METHOD(Verifying,
                 "a message that a signature delivers can be a sample, with the body that the verifier saw") {
  ask_checker();
  bool passes = false;
  SECTION("a signature that passes") {
    passes = true;
  }
  SECTION("one that is known at once") {
    passes = true;
    is_known_at_once = true;
  }
  SECTION("one that fails") {
    outcome.all[0].outcome = SignatureOutcome::body_changed;
  }
  std::promise<std::string> seen;
  DeliverySampler sampler(
      1,
      [&seen](const Envelope&, const MessageText& text) {
        std::string whole(static_cast<std::size_t>(text.size()), '\0');
        static_cast<void>(text.read(0, std::span(whole)));
        seen.set_value(whole);
        return DeepResult{};
      },
      [](SampleAnswer, std::string_view) {}, {});
  shared.sampler = borrowed(sampler);
  send("<joe@example.org>");
  CHECK_THAT(server.edits().back(), Contains(passes ? "insert 0 deliver; " : "insert 0 check; "));
  if (passes)
    CHECK(seen.get_future().get() == "From: joe@example.org\r\nSubject: it is\r\n\tfolded\r\n\r\nHello.\r\nBye.\r\n");
  CHECK(checked.empty() == passes);
  sampler.stop();
}

}  // namespace
}  // namespace bloomgate::test
