// Several messages of a connection, and several connections: what one leaves for the next.
#include <libmilter/mfapi.h>
#include <libmilter/mfdef.h>

#include <random>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using Edits = std::vector<std::string>;

TEST_CASE_METHOD(Session, "new rules hold from the next message on, also on open connections") {
  const auto decision = [&] {
    server.mail("<joe@example.org>");
    server.end_of_message();
    return server.edits().back();
  };
  CHECK_THAT(decision(), Contains("deliver; reason=listed;"));
  auto strict = std::make_shared<JudgeRules>(envelope_rules());
  strict->policy.authentication = AuthenticationRule::required;
  judge.set_rules(strict);
  CHECK_THAT(decision(), StartsWith("insert 0 check; "));
}

TEST_CASE("a connection keeps the parts with which it began, and the next connection gets the current ones") {
  Parts parts;
  auto observing = std::make_shared<ConnectionParts>(parts.shared);
  observing->mode = Mode::observe;
  parts.served.set(observing);
  const auto edits_of = [](FakeMailServer& server) {
    server.mail("<joe@example.org>");
    CHECK(server.end_of_message() == SMFIS_CONTINUE);
    return server.edits().size();
  };
  FakeMailServer before;
  before.negotiate();
  CHECK(before.asked_actions() == 0);
  auto enforcing = std::make_shared<ConnectionParts>(parts.shared);
  parts.served.set(enforcing);
  std::weak_ptr<ConnectionParts> old = observing;
  observing.reset();
  CHECK(edits_of(before) == 0);
  CHECK_FALSE(old.expired());

  FakeMailServer after;
  after.negotiate();
  CHECK(edits_of(after) == 1);

  // The same connection of the mail server, for another session.
  before.negotiate();
  CHECK(old.expired());
  CHECK(before.asked_actions() != 0);
  CHECK(edits_of(before) == 1);
}

TEST_CASE_METHOD(Session,
                 "a mail server that cannot leave out recipients and body is answered, and nothing of them is kept") {
  REQUIRE(server.negotiate(SMFI_CURR_ACTS, SMFI_CURR_PROT & ~(SMFIP_NORCPT | SMFIP_NOEOH | SMFIP_NOBODY)) ==
          SMFIS_CONTINUE);
  server.mail("<joe@example.org>");
  CHECK(server.recipient("<ann@example.net>") == SMFIS_CONTINUE);
  CHECK(server.end_of_header() == SMFIS_CONTINUE);
  CHECK(server.body("Hello.\r\n") == SMFIS_CONTINUE);
  server.end_of_message();
  CHECK_THAT(server.edits().back(), Contains("deliver; reason=listed;"));
}

// Of a message from `sender` to these recipients.
std::string mark_of(FakeMailServer& server, const std::string& sender, const std::vector<std::string>& recipients) {
  server.mail(sender);
  for (const std::string& recipient : recipients) CHECK(server.recipient(recipient) == SMFIS_NOREPLY);
  server.end_of_message();
  return server.edits().back();
}

TEST_CASE("the daemon asks for recipients if a whitelist in use holds pairs, from the next connection on") {
  Parts parts;
  FakeMailServer before;
  before.negotiate();
  CHECK((before.asked_steps() & SMFIP_NORCPT) != 0);

  parts.replace_whitelist({"all@example.org", "joe@example.org > ann@ours.example"});
  FakeMailServer server;
  REQUIRE(server.negotiate() == SMFIS_CONTINUE);
  CHECK((server.asked_steps() & (SMFIP_NORCPT | SMFIP_NR_RCPT)) == SMFIP_NR_RCPT);
  const std::string joe = "<joe@example.org>";
  CHECK_THAT(mark_of(server, joe, {"<ann@ours.example>"}), Contains(" deliver; reason=listed-for-recipients;"));
  CHECK_THAT(parts.log.text(), Contains(" recipients=1 listed_for=1\n"));
  CHECK_THAT(mark_of(server, joe, {"<ann@ours.example>", "<bob@ours.example>"}),
             Contains(" check; reason=not-listed-for-all;"));
  CHECK_THAT(parts.log.text(), Contains(" recipients=2 listed_for=1\n"));
  CHECK_THAT(mark_of(server, joe, {"<bob@ours.example>"}), Contains(" check; reason=not-listed;"));
  CHECK_THAT(mark_of(server, "<all@example.org>", {"<bob@ours.example>"}), Contains(" deliver; reason=listed;"));

  // The connection that was open has never told them.
  before.mail(joe);
  before.end_of_message();
  CHECK_THAT(before.edits().back(), Contains(" check; reason=recipients-unknown;"));
  before.negotiate();
  CHECK_THAT(mark_of(before, joe, {"<ann@ours.example>"}), Contains(" deliver; reason=listed-for-recipients;"));

  // Recipients are still told on connections that have begun so, where no list needs them any more.
  parts.replace_whitelist({"joe@example.org"});
  CHECK_THAT(mark_of(server, joe, {"<ann@ours.example>"}), Contains(" deliver; reason=listed;"));
}

TEST_CASE_METHOD(Session, "recipients of an earlier or an abandoned message do not count for the next one") {
  replace_whitelist({"joe@example.org > ann@ours.example"});
  server.negotiate();
  const std::string joe = "<joe@example.org>";
  server.mail(joe);
  server.recipient("<bob@ours.example>");
  SECTION("RSET") {
    server.abort();
  }
  SECTION("another MAIL") {}
  SECTION("its end") {
    server.end_of_message();
  }
  CHECK_THAT(mark_of(server, joe, {"<ann@ours.example>"}), Contains(" deliver; reason=listed-for-recipients;"));
  CHECK_THAT(mark_of(server, joe, {}), Contains(" check; reason=recipients-unknown;"));
}

TEST_CASE("a message is in progress from MAIL to its end, however it ends") {
  using namespace std::chrono_literals;
  Parts parts;
  FakeMailServer server;
  server.negotiate();
  const auto in_progress = [&] { return parts.in_progress.wait_for_none(0ms); };
  CHECK(in_progress() == 0);
  server.mail("<joe@example.org>");
  CHECK(in_progress() == 1);
  SECTION("its end") {
    server.end_of_message();
  }
  SECTION("RSET") {
    server.abort();
  }
  SECTION("the connection's end") {
    server.close();
  }
  SECTION("MAIL again, then its end") {
    server.mail("<joe@example.org>");
    CHECK(in_progress() == 1);
    server.end_of_message();
  }
  CHECK(in_progress() == 0);
  server.abort();
  server.close();
  CHECK(in_progress() == 0);
}

TEST_CASE_METHOD(Session, "hundreds of messages on one connection do not disturb each other") {
  for (int i = 0; i < 300; ++i) {
    const bool listed = i % 3 == 0;
    server.mail(listed ? "<joe@example.org>" : "<ann@example.org>");
    for (int forged = 0; forged < i % 4; ++forged) server.header("X-Bloomgate");
    REQUIRE(server.end_of_message() == SMFIS_CONTINUE);
    REQUIRE(server.edits().size() == static_cast<std::size_t>(i % 4 + 1));
    REQUIRE(server.edits().back() == (listed ? kDeliver : kCheck));
    if (i % 7 == 0) server.close();
  }
}

TEST_CASE("callbacks in any order never deliver a message without its own pass") {
  Session session({.policy = {.spf_proves = SpfProves::address}, .trusted_authserv_ids = {"mx.example.net"}});
  session.log.logger()->set_level(spdlog::level::err);
  FakeMailServer& server = session.server;
  std::mt19937 random(20261121);
  const std::string spf = "mx.example.net; spf=pass smtp.mailfrom=joe@example.org";
  bool has_sender = false, has_pass = false;
  int delivered = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto forget = [&] { has_sender = has_pass = false; };
    switch (random() % 13) {
      case 0:
        server.connect("198.51.100.1");
        forget();
        break;
      case 1:
        server.helo("client.example");
        break;
      case 2:
      case 3:
        forget();
        server.mail("<joe@example.org>");
        has_sender = true;
        break;
      case 4:
        forget();
        server.mail("<ann@example.net>");
        break;
      case 5:
        server.header("Authentication-Results", spf);
        has_pass = true;
        break;
      case 6:
        server.header("Authentication-Results", "mx.example.com; spf=pass smtp.mailfrom=joe@example.org");
        break;
      case 7:
        server.header("X-Bloomgate");
        break;
      case 8:
        server.abort();
        forget();
        break;
      case 9:
        if (random() % 20 != 0) break;
        server.close();
        forget();
        break;
      case 10:
        server.header("From", "joe@example.org");
        break;
      default: {
        REQUIRE(server.end_of_message() == SMFIS_CONTINUE);
        const bool is_delivered = server.edits().back().starts_with("insert 0 deliver;");
        if (is_delivered) REQUIRE((has_sender && has_pass));
        delivered += is_delivered ? 1 : 0;
        forget();
      }
    }
  }
  CHECK(delivered > 100);
}

}  // namespace
}  // namespace bloomgate::test
