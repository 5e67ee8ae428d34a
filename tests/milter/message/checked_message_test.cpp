#include "milter/message/checked_message.hpp"

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

DeepCheckOptions small_options() {
  DeepCheckOptions options;
  options.max_bytes = 1000;
  options.memory_bytes = 100;
  return options;
}

std::string text_of(const CheckedMessage& message) {
  std::string text(10'000, '\0');
  text.resize(message.text().read(0, text));
  return text;
}

// Up to the end of its header.
void begin(CheckedMessage& message, bool wanted = true) {
  message.begin_message("<joe@example.org>", "");
  message.add_field("Subject", "one\n two");
  message.end_header(wanted);
}

TEST_CASE("the checker gets envelope, fields and body as they came") {
  CheckedMessage message(small_options());
  message.begin_connection(parse_ip_address("192.0.2.1"), "client.example");
  message.greet("helo.example");
  message.begin_message("<joe@example.org>", "login");
  message.add_recipient("<ann@example.net>");
  message.add_recipient("bob@example.net");
  message.add_field("Subject", "one\n two");
  message.end_header(true);
  CHECK(message.add_body("Hello.\r\n"));
  CHECK(message.fault().empty());
  CHECK(text_of(message) == "Subject: one\r\n two\r\n\r\nHello.\r\n");
  const CheckedEnvelope& envelope = message.envelope();
  CHECK(envelope.client_address == "192.0.2.1");
  CHECK(envelope.client_name == "client.example");
  CHECK(envelope.helo == "helo.example");
  CHECK(envelope.sender == "joe@example.org");
  CHECK(envelope.login == "login");
  CHECK(envelope.recipients == std::vector<std::string>{"ann@example.net", "bob@example.net"});

  message.begin_message("<>", "");
  CHECK(envelope.sender.empty());
  CHECK(envelope.login.empty());
  CHECK(envelope.recipients.empty());
  CHECK(envelope.helo == "helo.example");
  CHECK(message.text().size() == 0);
  message.begin_connection(std::nullopt, "");
  CHECK(envelope.helo.empty());
  CHECK(envelope.client_address.empty());
}

TEST_CASE("marks of ours and results of checkers are not shown to the checker, and the latter are counted") {
  CheckedMessage message(small_options());
  message.begin_message("<joe@example.org>", "");
  for (const char* const name : {"X-Spam-Flag", "x-bloomgate", "X-Spamd-Result", "X-Other"})
    message.add_field(name, "1");
  message.end_header(true);
  CHECK(text_of(message) == "X-Other: 1\r\n\r\n");
  CHECK(message.spam_fields().names().size() == 2);
}

TEST_CASE("of a message that is not wanted nothing is kept") {
  CheckedMessage message(small_options());
  begin(message, false);
  CHECK_FALSE(message.add_body("Hello.\r\n"));
  CHECK(message.text().size() == 0);
  CHECK(message.fault().empty());
  begin(message);
  CHECK(message.add_body("Hello.\r\n"));
}

TEST_CASE("no more of a body is wanted when there is as much as is checked") {
  CheckedMessage message(small_options());
  begin(message);
  CHECK(message.add_body(std::string(500, 'x')));
  CHECK_FALSE(message.add_body(std::string(500, 'x')));
  CHECK_FALSE(message.add_body("y"));
  CHECK(message.text().size() == 1000);
  CHECK(message.fault().empty());
}

TEST_CASE("a text that cannot be kept is the message's fault, its body is not wanted, and the next one has none") {
  const test::TemporaryFolder folder;
  DeepCheckOptions options = small_options();
  options.temporary_folder = folder.file("missing");
  CheckedMessage message(options);
  begin(message);
  CHECK_FALSE(message.add_body(std::string(500, 'x')));
  CHECK_THAT(std::string(message.fault()), Catch::Contains("missing"));
  CHECK_FALSE(message.add_body("y"));
  begin(message);
  CHECK(message.fault().empty());
  CHECK(message.add_body("y"));
}

TEST_CASE("fields behind the header's end and a body before it are faults, since the text would be another") {
  CheckedMessage message(small_options());
  begin(message);
  message.add_field("Subject", "late");
  CHECK_FALSE(message.fault().empty());
  message.begin_message("<joe@example.org>", "");
  CHECK(message.fault().empty());
  message.add_body("early");
  CHECK_FALSE(message.fault().empty());
  message.begin_message("<joe@example.org>", "");
  message.end_header(false);
  message.add_field("X-Spam-Flag", "late");
  CHECK(message.spam_fields().names().size() == 1);
  CHECK_FALSE(message.fault().empty());
}

}  // namespace
}  // namespace bloomgate
