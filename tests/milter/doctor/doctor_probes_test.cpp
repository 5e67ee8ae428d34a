#include "milter/doctor/doctor_probes.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

constexpr const char* kSaved =
    "From joe@example.org Sat Nov 21 10:00:00 2026\n"
    "Return-Path: <bounce@example.org>\n"
    "Delivered-To: user@example.net\n"
    "X-Bloomgate: deliver; reason=listed\n"
    "Authentication-Results: mx.example.net;\n"
    "\tdkim=pass header.d=example.org\n"
    "DKIM-Signature: v=1; a=rsa-sha256;\n"
    " b=abc\n"
    "From: Joe <joe@example.org>\n"
    "Subject: X-Bloomgate: in a subject\n"
    "\n"
    "Hello.\n"
    ".\n"
    "X-Bloomgate: in the body\n";

constexpr const char* kHeader =
    "DKIM-Signature: v=1; a=rsa-sha256;\r\n b=abc\r\nFrom: Joe <joe@example.org>\r\n"
    "Subject: X-Bloomgate: in a subject\r\n\r\n";

TEST_CASE("a saved message loses the fields of its delivery, and no field that may be signed") {
  const Probe probe = genuine_probe(kSaved);
  CHECK(probe.sender == "bounce@example.org");
  CHECK(probe.content == std::string(kHeader) + "Hello.\r\n.\r\nX-Bloomgate: in the body\r\n");
  CHECK(genuine_probe(probe.content).content == probe.content);
}

TEST_CASE("without a Return-Path the sender is that of the From field, if there is one") {
  CHECK(genuine_probe("From: joe@example.org\n\nHello.\n").sender == "joe@example.org");
  CHECK(genuine_probe("FROM : <joe@example.org>\n\n").sender == "joe@example.org");
  CHECK(genuine_probe("Subject: no sender\n\nHello.\n").sender.empty());
  CHECK(genuine_probe("").sender.empty());
  CHECK(genuine_probe("From ").sender.empty());
}

TEST_CASE("a forged message keeps the signature, and has another body and forged claims") {
  const Probe forged = forged_probe(genuine_probe(kSaved), "mx.example.net");
  CHECK(forged.sender == "bounce@example.org");
  CHECK_THAT(forged.content, StartsWith("X-Bloomgate: deliver") &&
                                 Contains("Authentication-Results: mx.example.net; dkim=pass header.d=example."
                                          "org\r\n") &&
                                 Contains(kHeader) && !Contains("\r\n\r\nHello."));
}

TEST_CASE("unlisted senders differ from one doctor to the next") {
  CHECK(unlisted_probe("1", "a@b.example").sender != unlisted_probe("2", "a@b.example").sender);
  CHECK_THAT(unlisted_probe("1", "a@b.example").content, Contains("To: <a@b.example>\r\n"));
}

TEST_CASE("queue IDs are found in the replies of Postfix and Sendmail, and in no other text") {
  CHECK(queue_id_of("250 2.0.0 Ok: queued as 4XyZ1abc\r\n") == "4XyZ1abc");
  CHECK(queue_id_of("250 2.0.0 5ALMxY00123 Message accepted for delivery\r\n") == "5ALMxY00123");
  for (const char* const reply : {"", "250 2.0.0 Ok\r\n", "250 2.0.0 Ok: queued as a|.*\r\n", "550 5.7.1 no\r\n"}) {
    INFO(reply);
    CHECK(queue_id_of(reply).empty());
  }
}

TEST_CASE("a milter that Postfix could not reach is read from the last line that says so") {
  CHECK(unreached_milter(
            "warning: connect to Milter service unix:/a: Permission denied\nx\n"
            "Nov 20 mx postfix/smtpd[1]: warning: connect to Milter service unix:/b: Connection refused\ny") ==
        "unix:/b: Connection refused");
  CHECK(unreached_milter("Nov 20 mx postfix/smtpd[1]: connect from x\n").empty());
}

TEST_CASE("the fate of a message is read from the lines with its queue ID, and from no others") {
  constexpr std::string_view kLog =
      "[info] queue_id=ABC1 sender=<a@b.example> decision=check reason=not-listed time_us=1.0\n"
      "[info] queue_id=ABC sender=<a@b.example> decision=deliver reason=listed time_us=1.0\n"
      "postfix/smtp[1]: ABC: to=<u@b.example>, relay=127.0.0.1[127.0.0.1]:25, delay=0.1, dsn=2.0.0, status=sent (250)\n"
      "postfix/smtp[1]: ABD: to=<u@b.example>, relay=none, status=deferred (x)";
  const MessageFate fate = fate_of(kLog, "ABC");
  CHECK(fate.decision == "deliver");
  CHECK(fate.reason == "listed");
  CHECK(fate.delivery == "relay=127.0.0.1[127.0.0.1]:25 status=sent");
  CHECK(fate_of(kLog, "ABD").delivery == "relay=none status=deferred");
  CHECK(fate_of(kLog, "ABD").decision.empty());
  CHECK(fate_of("", "ABC").delivery.empty());
}

}  // namespace
}  // namespace bloomgate::test
