#include "milter/deep_check/received_fields.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

constexpr std::time_t kTime = 1795255200;  // 21 November 2026, 10:00 UTC

Envelope usual() {
  return {.queue_id = "4ABC12",
          .sender = "joe@example.org",
          .recipients = {"ann@example.net"},
          .client_address = "192.0.2.7",
          .client_name = "mail.example.org",
          .helo = "helo.example.org",
          .login = "",
          .mta_name = "mx.example.net"};
}

TEST_CASE("the fields name the sender, the client and its address") {
  CHECK(received_fields(usual(), kTime) ==
        "Return-Path: <joe@example.org>\r\n"
        "Received: from helo.example.org (mail.example.org [192.0.2.7])\r\n"
        "\tby mx.example.net (Bloomgate) with ESMTP id 4ABC12\r\n"
        "\t(envelope-from <joe@example.org>);\r\n"
        "\tSat, 21 Nov 2026 10:00:00 +0000\r\n");
}

TEST_CASE("a login, a client without a name and unknown values are written") {
  Envelope envelope = usual();
  envelope.login = "ann";
  CHECK_THAT(received_fields(envelope, kTime), Contains(" with ESMTPA id 4ABC12\r\n"));
  envelope.client_name = "[192.0.2.7]";
  CHECK_THAT(received_fields(envelope, kTime), Contains(" (unknown [192.0.2.7])\r\n"));
  envelope.helo.clear();
  CHECK_THAT(received_fields(envelope, kTime), Contains("Received: from unknown ("));
  envelope.client_address = "2001:db8::1";
  CHECK_THAT(received_fields(envelope, kTime), Contains("[2001:db8::1]"));
  envelope.sender.clear();
  CHECK_THAT(received_fields(envelope, kTime), StartsWith("Return-Path: <>\r\n"));
  envelope.client_address.clear();
  CHECK(received_fields(envelope, kTime) == "Return-Path: <>\r\n");
}

TEST_CASE("values from the client cannot look like another part of the fields") {
  struct Case {
    const char* helo;
    const char* want;
  };
  const Case cases[] = {
      {"a b", "from a?b (mail"},
      {"x (y [10.0.0.1]) by z", "from x??y?[10.0.0.1]??by?z (mail"},
      {"x\r\nReceived: from y", "from x??Received:?from?y (mail"},
      {"envelope-from=ann@example.net", "from envelope-from?ann@example.net (mail"},
      {"x;y", "from x?y (mail"},
  };
  for (const Case& c : cases) {
    Envelope envelope = usual();
    envelope.helo = c.helo;
    CHECK_THAT(received_fields(envelope, kTime), Contains(c.want));
  }
  Envelope envelope = usual();
  envelope.sender = "a> b)\r\nX: <y@example.org";
  CHECK_THAT(received_fields(envelope, kTime), StartsWith("Return-Path: <a??b???X:??y@example.org>\r\nReceived:"));
  envelope.helo = std::string(5000, 'x');
  CHECK(received_fields(envelope, kTime).size() < 1000);
  for (std::string* const word : {&envelope.sender, &envelope.client_name, &envelope.mta_name, &envelope.queue_id}) {
    *word = std::string(5000, 'y');
  }
  // The sender stands there twice, with 1,024 bytes at most, and each of the others once, with 255.
  const std::string fields = received_fields(envelope, kTime);
  CHECK(fields.size() < 2 * 1024 + 4 * 255 + 200);
  CHECK_THAT(fields, StartsWith("Return-Path: <" + std::string(1000, 'y')));
}

}  // namespace
}  // namespace bloomgate::test
