#include "milter/session.hpp"

#include <catch2/catch.hpp>

namespace bloomgate {
namespace {

TEST_CASE("a new session knows nothing") {
  const Session session;
  CHECK_FALSE(session.facts().envelope_sender);
  CHECK(session.forged_headers() == 0);
  CHECK_FALSE(session.failed());
}

TEST_CASE("a session keeps the sender as it was told, and counts our headers only") {
  Session session;
  session.begin_message("<Joe@Example.ORG> SIZE=1");
  for (const char* const name : {"From", "X-Bloomgate", "Subject", "x-BLOOMGATE ", "X-Bloomgate-Not"}) {
    session.add_header(name, "deliver");
  }
  CHECK(session.facts().envelope_sender == "<Joe@Example.ORG> SIZE=1");
  CHECK(session.forged_headers() == 2);
}

TEST_CASE("nothing of a message is left for the next one") {
  Session session;
  session.begin_message("<joe@example.org>");
  session.add_header("X-Bloomgate", "deliver");
  session.fail();

  SECTION("after a reset") {
    session.reset();
    CHECK_FALSE(session.facts().envelope_sender);
  }
  SECTION("after another MAIL") {
    session.begin_message("<ann@example.org>");
    CHECK(session.facts().envelope_sender == "<ann@example.org>");
  }
  CHECK(session.forged_headers() == 0);
  CHECK_FALSE(session.failed());
}

TEST_CASE("an empty sender is a sender, and not the same as none") {
  Session session;
  session.begin_message("");
  CHECK(session.facts().envelope_sender == "");
}

}  // namespace
}  // namespace bloomgate
