#include "milter/message/session.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace bloomgate {
namespace {

TEST_CASE("a new session knows nothing") {
  Session session;
  const Facts facts = session.facts({});
  CHECK_FALSE(facts.envelope_sender);
  CHECK(facts.header_from == HeaderFrom{});
  CHECK(facts.authentication.trusted_fields() == 0);
  CHECK_FALSE(facts.origin.client);
  CHECK_FALSE(facts.origin.logged_in);
  CHECK(facts.origin.daemon_name.empty());
  CHECK(session.forged_headers() == 0);
  CHECK_FALSE(session.failed());
}

TEST_CASE("a session keeps the sender as it was told, and counts our headers only") {
  Session session;
  session.begin_message("<Joe@Example.ORG> SIZE=1");
  for (const char* const name : {"From", "X-Bloomgate", "Subject", "x-BLOOMGATE ", "X-Bloomgate-Not"}) {
    session.add_header(name, "deliver");
  }
  CHECK(session.facts({}).envelope_sender == "<Joe@Example.ORG> SIZE=1");
  CHECK(session.forged_headers() == 2);
}

TEST_CASE("nothing of a message is left for the next one") {
  Session session;
  session.begin_message("<joe@example.org>");
  session.add_header("X-Bloomgate", "deliver");
  session.fail();

  SECTION("after a reset") {
    session.reset();
    CHECK_FALSE(session.facts({}).envelope_sender);
  }
  SECTION("after another MAIL") {
    session.begin_message("<ann@example.org>");
    CHECK(session.facts({}).envelope_sender == "<ann@example.org>");
  }
  CHECK(session.forged_headers() == 0);
  CHECK_FALSE(session.failed());
}

TEST_CASE("From and Authentication-Results fields are read whatever the case of their names, and no others") {
  Session session;
  session.begin_message("<a@example.org>", {.login = "joe", .daemon_name = "MSA"});
  for (const char* const name : {"Sender", "Reply-To", "X-From", "Resent-From", "Return-Path"}) {
    session.add_header(name, "other@example.org");
  }
  session.add_header("FROM ", "Joe <joe@example.org>");
  const std::vector<std::string> trusted = {"mx.example.net"};
  session.add_header("Dkim-signature", "v=1; d=example.org; s=1");
  session.add_header("DKIM-Signature", "v=1; d=example.com; s=1");
  session.add_header("X-Authentication-Results", "mx.example.net; dkim=pass header.d=example.com");
  session.add_header("ARC-Authentication-Results", "mx.example.net; dkim=pass header.d=example.com");
  session.add_header("authentication-RESULTS\t", "mx.example.net; dkim=pass header.d=example.org");
  const Facts facts = session.facts(trusted);
  CHECK(facts.header_from == HeaderFrom{HeaderFromKind::one_mailbox, "joe@example.org"});
  CHECK(facts.authentication.trusted_fields() == 1);
  CHECK(facts.authentication.dkim_aligned("example.org", Alignment::strict));
  CHECK_FALSE(facts.authentication.dkim_aligned("example.com", Alignment::strict));
  CHECK(facts.origin.logged_in);
  CHECK(facts.origin.daemon_name == "MSA");
  CHECK(session.facts({}).authentication.trusted_fields() == 0);
}

TEST_CASE("of Authentication-Results fields as many are looked at, from the top, as milters write") {
  Session session;
  session.begin_message("<a@example.org>");
  session.add_header("From", "joe@example.org");
  session.add_header("DKIM-Signature", "v=1; d=example.org; s=1");
  session.add_header("Authentication-Results", "mx.example.net; dkim=none");
  session.add_header("Authentication-Results", "mx.example.net; dkim=pass header.d=example.org");
  const std::vector<std::string> trusted = {"mx.example.net"};
  CHECK_FALSE(session.facts(trusted, 1).authentication.dkim_aligned("example.org", Alignment::strict));
  for (const std::size_t number : {std::size_t{0}, std::size_t{2}, std::size_t{100}}) {
    CHECK(session.facts(trusted, number).authentication.dkim_aligned("example.org", Alignment::strict));
  }
}

TEST_CASE("too many or too long From fields are no sender, and all of them together take little memory") {
  Session session;
  session.begin_message("<a@example.org>");
  SECTION("many") {
    for (int i = 0; i < 100'000; ++i) session.add_header("From", "joe@example.org");
    CHECK(session.facts({}).header_from.kind == HeaderFromKind::several_fields);
  }
  SECTION("long") {
    session.add_header("From", std::string(kMaxHeaderFromBytes, ' ') + "joe@example.org");
    CHECK(session.facts({}).header_from.kind == HeaderFromKind::malformed);
  }
  SECTION("cut off where a whole address ends") {
    std::string value = "joe@example.org";
    value.append(kMaxHeaderFromBytes + 1 - value.size(), ' ').append(",ann@example.org");
    session.add_header("From", value);
    CHECK(session.facts({}).header_from.kind == HeaderFromKind::malformed);
  }
  CHECK_FALSE(session.failed());
}

TEST_CASE("with more results than are kept the message has failed, until the next one") {
  Session session;
  session.begin_message("<a@example.org>");
  SECTION("many") {
    for (int i = 0; i < 2000; ++i) session.add_header("Authentication-Results", "x; none");
  }
  SECTION("long") {
    for (int i = 0; i < 40; ++i) session.add_header("Authentication-Results", std::string(65536, 'x'));
  }
  CHECK(session.failed());
  session.add_header("From", "joe@example.org");
  CHECK(session.failed());
  session.begin_message("<a@example.org>");
  CHECK_FALSE(session.failed());
}

TEST_CASE("the client's address stays for all its messages, and no longer; its login is told with each message") {
  Session session;
  const auto client = parse_ip_address("192.0.2.1");
  session.begin_connection(client);
  for (int i = 0; i < 2; ++i) {
    session.begin_message("<a@example.org>", {.login = i == 0 ? "joe" : "", .daemon_name = ""});
    CHECK(session.facts({}).origin.client == client);
    CHECK(session.facts({}).origin.logged_in == (i == 0));
    session.reset();
  }
  session.begin_connection(std::nullopt);
  session.begin_message("<a@example.org>");
  CHECK_FALSE(session.facts({}).origin.client);
}

TEST_CASE("an empty sender is a sender, and not the same as none") {
  Session session;
  session.begin_message("");
  CHECK(session.facts({}).envelope_sender == "");
}

}  // namespace
}  // namespace bloomgate
