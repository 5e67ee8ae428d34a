#include "milter/glue/callbacks.hpp"

#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>

#include <stdexcept>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fresh_signature.hpp"

namespace bloomgate::test {
namespace {

using Edits = std::vector<std::string>;

TEST_CASE_METHOD(Session, "a listed sender's message is marked deliver, another's check") {
  server.mail("<joe@example.org>");
  server.header("From", "someone");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{kDeliver});

  server.mail("<ann@example.org>");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{kCheck});
}

TEST_CASE_METHOD(Session, "values that the mail server leaves out are empty, and the message is decided") {
  const smfiDesc callbacks = callback_description();
  SMFICTX* const context = &server.context();
  CHECK(callbacks.xxfi_connect(context, nullptr, nullptr) == SMFIS_NOREPLY);
  CHECK(callbacks.xxfi_helo(context, nullptr) == SMFIS_NOREPLY);
  CHECK(callbacks.xxfi_envfrom(context, nullptr) == SMFIS_NOREPLY);
  server.mail("<joe@example.org>");
  char name[] = "From";
  CHECK(callbacks.xxfi_header(context, name, nullptr) == SMFIS_NOREPLY);
  CHECK(callbacks.xxfi_header(context, nullptr, nullptr) == SMFIS_NOREPLY);
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{kDeliver});
}

TEST_CASE_METHOD(Session, "connections, greetings, MAIL and headers are not replied to, as was agreed") {
  REQUIRE((server.asked_steps() & SMFIP_NR_MAIL) != 0);
  REQUIRE((server.asked_steps() & SMFIP_NR_HDR) != 0);
  REQUIRE((server.asked_steps() & SMFIP_NR_CONN) != 0);
  CHECK(server.connect("192.0.2.1") == SMFIS_NOREPLY);
  CHECK(server.connect() == SMFIS_NOREPLY);
  REQUIRE((server.asked_steps() & SMFIP_NR_HELO) != 0);
  CHECK(server.helo("client.example") == SMFIS_NOREPLY);
  CHECK(server.mail("<joe@example.org>") == SMFIS_NOREPLY);
  CHECK(server.header("From") == SMFIS_NOREPLY);
  CHECK(server.header("X-Bloomgate") == SMFIS_NOREPLY);
}

TEST_CASE_METHOD(Session, "only the macros that are used are asked for") {
  CHECK(server.context().asked_macros == Edits{std::to_string(SMFIM_CONNECT) + " j {daemon_name}",
                                               std::to_string(SMFIM_ENVFROM) + " i {auth_authen}",
                                               std::to_string(SMFIM_EOM) + " i j"});
}

TEST_CASE_METHOD(Session,
                 "forged headers are removed from the last to the first, on both verdicts, before ours goes in") {
  for (const auto& [sender, ours] : {std::pair{"<joe@example.org>", kDeliver}, {"<ann@example.org>", kCheck}}) {
    server.mail(sender);
    for (const char* const name : {"X-Bloomgate", "Subject", "x-bloomgate", "X-BLOOMGATE "}) server.header(name);
    CHECK(server.end_of_message() == SMFIS_CONTINUE);
    CHECK(server.edits() == Edits{"delete 3", "delete 2", "delete 1", ours});
  }
}

TEST_CASE_METHOD(Session, "nothing of an abandoned message is left for the next one") {
  server.mail("<joe@example.org>");
  server.header("X-Bloomgate");
  SECTION("RSET") {
    server.abort();
  }
  SECTION("another MAIL without RSET") {}
  SECTION("QUIT, and another session on the same connection, without negotiation") {
    server.close();
  }
  server.mail("<ann@example.org>");
  server.end_of_message();
  CHECK(server.edits() == Edits{kCheck});
}

TEST_CASE_METHOD(Session, "the end of a message without MAIL is check, with forged headers removed") {
  server.header("X-Bloomgate");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{"delete 1", "insert 0 check; reason=no-sender; host=fallback.example"});
}

TEST_CASE_METHOD(Session, "the host is the configured name, else the mail server's, else the machine's") {
  const auto host = [&] {
    server.mail("<joe@example.org>");
    server.end_of_message();
    const std::string& edit = server.edits().back();
    const std::string after = edit.substr(edit.find("host=") + 5);
    return after.substr(0, after.find(';'));
  };
  CHECK(host() == "fallback.example");
  server.context().macros["j"] = "mx.example.org";
  CHECK(host() == "mx.example.org");
  server.context().macros["j"] = "mx;\r\nX-Spam: no";  // cannot stand in a header
  CHECK(host() == "fallback.example");
  shared.host_name = "configured.example";
  CHECK(host() == "configured.example");
}

TEST_CASE_METHOD(Session, "with mode observe, messages are decided and logged, and not changed") {
  shared.mode = Mode::observe;
  REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  CHECK(server.asked_actions() == 0);
  server.mail("<joe@example.org>");
  server.header("X-Bloomgate");
  CHECK(server.end_of_message("Q7") == SMFIS_CONTINUE);
  CHECK(server.edits().empty());
  CHECK_THAT(log.text(),
             Contains("queue_id=Q7") && Contains("decision=deliver reason=listed") && Contains("forged_headers=1"));
}

TEST_CASE_METHOD(
    Session,
    "past a hundred forged headers a message is refused for good with a text, and logged once with its queue ID") {
  for (const char* const sender : {"<joe@example.org>", "<ann@example.org>"}) {
    server.mail(sender);
    for (int i = 0; i < 100; ++i) server.header("X-Bloomgate");
    CHECK(server.end_of_message() == SMFIS_CONTINUE);
    CHECK(server.edits().size() == 101);
    const std::size_t before = log.text().size();
    server.mail(sender);
    for (int i = 0; i < 12'000; ++i) server.header("X-Bloomgate");
    CHECK(server.end_of_message("Q7") == SMFIS_REJECT);
    CHECK(server.edits() == Edits{"reply 550 5.7.1 The message has too many X-Bloomgate or X-Spam header fields"});
    CHECK(log.text().substr(before) == "warning: queue_id=Q7 sender=" + std::string(sender) +
                                           " decision=refuse reason=forged-fields forged_headers=12000\n");
  }
}

TEST_CASE_METHOD(
    Session, "forged headers among very many others, which the mail server would search again and again, are refused") {
  server.mail("<joe@example.org>");
  for (int i = 0; i < 20'000; ++i) server.header("A");
  for (int i = 0; i < 49; ++i) server.header("X-Bloomgate");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  server.mail("<joe@example.org>");
  for (int i = 0; i < 20'000; ++i) server.header("A");
  for (int i = 0; i < 50; ++i) server.header("X-Bloomgate");
  CHECK(server.end_of_message() == SMFIS_REJECT);
}

TEST_CASE_METHOD(Session, "with mode observe, no number of forged headers makes the daemon refuse a message") {
  shared.mode = Mode::observe;
  server.negotiate();
  server.mail("<joe@example.org>");
  for (int i = 0; i < 12'000; ++i) server.header("X-Bloomgate");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits().empty());
  CHECK_THAT(log.text(), Contains("decision=deliver reason=listed") && Contains(" forged_headers=12000\n"));
}

TEST_CASE_METHOD(Session,
                 "a message whose headers cannot be edited is refused temporarily, wherever the editing fails") {
  for (const int successes : {0, 1, 2}) {
    INFO(successes << " edits succeed");
    server.context().edits_until_failure = successes;
    server.mail("<joe@example.org>");
    server.header("X-Bloomgate");
    server.header("X-Bloomgate");
    CHECK(server.end_of_message() == SMFIS_TEMPFAIL);
  }
  server.context().edits_until_failure = -1;
  server.mail("<joe@example.org>");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{kDeliver});
  CHECK_THAT(log.text(), Contains("error: the headers of a message could not be edited"));
}

// No message is made for it, as it is no std::exception: spdlog lets it through.
class FailingSink final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg&) override { throw 1; }
  void flush_() override {}
};

TEST_CASE_METHOD(Session, "a log that fails where an error is to be logged does not end the daemon") {
  shared.log = std::make_shared<spdlog::logger>("failing", std::make_shared<FailingSink>());
  server.context().edits_until_failure = 0;
  server.mail("<joe@example.org>");
  CHECK(server.end_of_message() == SMFIS_TEMPFAIL);
  CHECK(server.negotiate(SMFIF_ADDHDRS, SMFI_CURR_PROT) == SMFIS_REJECT);
}

TEST_CASE_METHOD(Session,
                 "a mail server that lets no headers be changed is refused, and the log says what is missing") {
  CHECK(server.negotiate(SMFIF_ADDHDRS, SMFI_CURR_PROT) == SMFIS_REJECT);
  CHECK_THAT(log.text(), Contains("error: ") && Contains("changing headers"));
}

TEST_CASE_METHOD(Session, "an exception makes the message check with internal-error, and the message is still marked") {
  // The report of the damage is the one thing on the way that a test can make throw.
  const Judge throwing(envelope_rules(), slot, results, record,
                       {[] { throw std::runtime_error("made up\nby a test"); }, [] {}});
  shared.judge = &throwing;
  whitelist.truncate();
  server.mail("<joe@example.org>");
  server.header("X-Bloomgate");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{"delete 1", "insert 0 check; reason=internal-error"});
  CHECK_THAT(log.text(), Contains("error: internal error at the end of a message: made up\\x0aby a test"));
}

TEST_CASE("client, login, listener, From and results from the mail server reach the decision") {
  const std::string id = "mx.example.net";
  const JudgeRules rules = {.policy = {.exempt_networks = {*parse_ip_network("192.0.2.0/24")},
                                       .exempt_daemons = {"MSA"},
                                       .exempt_logged_in = true},
                            .trusted_authserv_ids = {id}};
  Session session(rules);
  FakeMailServer& server = session.server;
  server.connect("198.51.100.1");
  const auto mark = [&](const char* results, const char* from = "joe@example.org") {
    server.mail("<bounce-7@sender.example>");
    server.header("from", from);
    server.header("dkim-signature", fresh_signature("example.org").c_str());
    if (results != nullptr) server.header("Authentication-results ", results);
    CHECK(server.end_of_message() == SMFIS_CONTINUE);
    const Edits edits = server.edits();
    return edits.empty() ? "" : edits.front().substr(std::string("insert 0 ").size());
  };
  CHECK_THAT(mark("mx.example.net; dkim=pass header.d=example.org"), StartsWith("deliver; reason=listed;"));
  CHECK_THAT(mark("other.example; dkim=pass header.d=example.org"), StartsWith("check; reason=not-authenticated;"));
  CHECK_THAT(mark(nullptr), StartsWith("check; reason=not-authenticated;"));
  CHECK_THAT(mark(nullptr, "joe@example.org, ann@example.org"), StartsWith("check; reason="));
  SECTION("a login") {
    server.context().macros["{auth_authen}"] = "joe";
    CHECK(mark(nullptr).empty());
    server.context().macros["{auth_authen}"] = "";
    CHECK_FALSE(mark(nullptr).empty());
  }
  SECTION("a listener") {
    server.context().macros["{daemon_name}"] = "MSA";
    CHECK(mark(nullptr).empty());
  }
  SECTION("a network, until the next client comes") {
    server.connect("192.0.2.200");
    CHECK(mark(nullptr).empty());
    CHECK(mark(nullptr).empty());
    server.connect("::ffff:192.0.2.200");
    CHECK(mark(nullptr).empty());
    SECTION("a client of the system itself") {
      server.connect();
    }
    SECTION("a connection of which nothing is known") {
      server.close();
    }
    CHECK_FALSE(mark(nullptr).empty());
  }
}

// Whether a message of joe@example.org is delivered that has these results and so many signatures.
bool is_delivered(FakeMailServer& server, const std::string& results, std::size_t signatures = 0) {
  server.mail("<joe@example.org>");
  server.header("From", "joe@example.org");
  const std::string signature = fresh_signature("example.org");
  for (std::size_t i = 0; i < signatures; ++i) server.header("DKIM-Signature", signature.c_str());
  server.header("Authentication-Results", results);
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  return server.edits().back().starts_with("insert 0 deliver;");
}

TEST_CASE("results in the mail server's own name are believed unless the configuration names others") {
  Session session(JudgeRules{.policy = {.spf_proves = SpfProves::address}});
  const std::string results = "MX.example.net; spf=pass smtp.mailfrom=joe@example.org";
  CHECK_FALSE(is_delivered(session.server, results));
  session.server.context().macros["j"] = "mx.example.net";
  CHECK(is_delivered(session.server, results));
  session.server.context().macros["j"] = "mx.example.com";
  CHECK_FALSE(is_delivered(session.server, results));
}

TEST_CASE("mail that is not incoming is not marked, and its forged fields are removed") {
  JudgeRules rules = envelope_rules();
  rules.policy.exempt_logged_in = true;
  Session session(rules);
  FakeMailServer& server = session.server;
  server.context().macros["{auth_authen}"] = "joe";
  server.mail("<joe@example.org>");
  server.header("X-Bloomgate");
  server.header("X-Bloomgate");
  CHECK(server.end_of_message() == SMFIS_CONTINUE);
  CHECK(server.edits() == Edits{"delete 2", "delete 1"});
  CHECK_THAT(session.log.text(), Contains("reason=exempt-authenticated"));
  server.context().edits_until_failure = 0;
  server.mail("<joe@example.org>");
  server.header("X-Bloomgate");
  CHECK(server.end_of_message() == SMFIS_TEMPFAIL);
}

TEST_CASE("after a greeting that could forge results, no results count on that connection") {
  Session session({.policy = {.spf_proves = SpfProves::address}, .trusted_authserv_ids = {"mx.example.net"}});
  const std::string results = "mx.example.net; spf=pass smtp.mailfrom=joe@example.org";
  session.server.connect("198.51.100.1");
  session.server.helo("client.example");
  CHECK(is_delivered(session.server, results));
  session.server.helo("x; dkim=pass header.d=example.org");
  CHECK_FALSE(is_delivered(session.server, results));
  CHECK_FALSE(is_delivered(session.server, results));
  session.server.connect("198.51.100.1");
  CHECK(is_delivered(session.server, results));
}

TEST_CASE("a message with more signatures than the limit is not believed, and the next one is decided by itself") {
  Session session({.policy = {.spf_proves = SpfProves::address}, .trusted_authserv_ids = {"mx.example.net"}});
  session.server.connect("198.51.100.1");
  const auto delivers = [&](std::size_t signatures) {
    return is_delivered(session.server, "mx.example.net; dkim=pass header.d=example.org", signatures);
  };
  CHECK(delivers(Grounds::kMaxSignatures));
  CHECK_FALSE(delivers(Grounds::kMaxSignatures + 1));
  CHECK(delivers(1));
  CHECK_FALSE(delivers(0));
  for (std::size_t i = 0; i <= Grounds::kMaxSignatures + 1; ++i) REQUIRE(delivers(1));
}

}  // namespace
}  // namespace bloomgate::test
