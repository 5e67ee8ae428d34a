// The text and the envelope that a checker is shown of a recorded message.
#include <filesystem>

#include "milter/message/message_recorder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

MessageText::Limits small_limits() {
  return {.max_bytes = 1000, .memory_bytes = 100, .folder = "/var/tmp"};
}

std::string text_of(const MessageRecorder& message) {
  std::string text(10'000, '\0');
  text.resize(message.text().read(0, text));
  return text;
}

// Up to the end of its header.
void begin(MessageRecorder& message, bool wanted = true) {
  message.begin_message("<joe@example.org>");
  message.add_header("Subject", "one\n two");
  message.end_header(wanted);
}

struct Recorded {
  MessageRecorder message{small_limits()};
};

TEST_CASE_METHOD(Recorded, "the checker gets envelope, fields and body unchanged") {
  message.begin_connection(parse_ip_address("192.0.2.1"), "client.example");
  message.greet("helo.example");
  message.begin_message("<joe@example.org>", {.login = "login", .daemon_name = ""});
  message.add_recipient("<ann@example.net>");
  message.add_recipient("bob@example.net");
  message.add_header("Subject", "one\n two");
  message.end_header(true);
  CHECK(message.add_body("Hello.\r\n"));
  CHECK(message.text_fault().empty());
  CHECK(text_of(message) == "Subject: one\r\n two\r\n\r\nHello.\r\n");
  Envelope envelope = message.envelope({"Q1", "mx.example.net"});
  CHECK(envelope.queue_id == "Q1");
  CHECK(envelope.mta_name == "mx.example.net");
  CHECK(envelope.client_address == "192.0.2.1");
  CHECK(envelope.client_name == "client.example");
  CHECK(envelope.helo == "helo.example");
  CHECK(envelope.sender == "joe@example.org");
  CHECK(envelope.login == "login");
  CHECK(envelope.recipients == std::vector<std::string>{"ann@example.net", "bob@example.net"});

  message.begin_message("<>");
  envelope = message.envelope({});
  CHECK(envelope.sender.empty());
  CHECK(envelope.login.empty());
  CHECK(envelope.recipients.empty());
  CHECK(envelope.helo == "helo.example");
  CHECK(message.text().size() == 0);
  message.begin_connection(std::nullopt, "");
  envelope = message.envelope({});
  CHECK(envelope.helo.empty());
  CHECK(envelope.client_address.empty());
}

TEST_CASE_METHOD(Recorded, "the first of very many recipients are kept, and the first bytes of very long ones") {
  message.begin_message("<joe@example.org>");
  for (int i = 0; i < 100'000; ++i) message.add_recipient("<" + std::to_string(i) + "@example.net>");
  std::vector<std::string> kept = message.envelope({}).recipients;
  CHECK(kept.size() == 1000);
  CHECK(kept.front() == "0@example.net");
  CHECK(message.text_fault().empty());
  message.begin_message("<joe@example.org>");
  for (int i = 0; i < 100; ++i) message.add_recipient(std::string(60'000, 'x'));
  kept = message.envelope({}).recipients;
  CHECK(kept.size() == 32);
  CHECK(kept.front().size() == 1024);
}

TEST_CASE_METHOD(Recorded,
                 "our marks and checkers' results are not shown to the checker, and the results are counted") {
  message.begin_message("<joe@example.org>");
  for (const char* const name : {"X-Spam-Flag", "x-bloomgate", "X-Spamd-Result", "X-Other"})
    message.add_header(name, "1");
  message.end_header(true);
  CHECK(text_of(message) == "X-Other: 1\r\n\r\n");
  CHECK(message.forged_fields().results().size() == 2);
}

TEST_CASE_METHOD(Recorded, "nothing is kept of a message that no checker needs") {
  begin(message, false);
  CHECK_FALSE(message.add_body("Hello.\r\n"));
  CHECK(message.text().size() == 0);
  CHECK(message.text_fault().empty());
  begin(message);
  CHECK(message.add_body("Hello.\r\n"));
}

TEST_CASE_METHOD(Recorded, "a body is read up to the amount that is checked") {
  begin(message);
  CHECK(message.add_body(std::string(500, 'x')));
  CHECK_FALSE(message.add_body(std::string(500, 'x')));
  CHECK_FALSE(message.add_body("y"));
  CHECK(message.text().size() == 1000);
  CHECK(message.text_fault().empty());
}

TEST_CASE_METHOD(
    InFolder,
    "a text that cannot be kept marks its message as failed, its body is skipped, and the next message is sound") {
  MessageText::Limits limits = small_limits();
  limits.folder = folder.file("missing");
  MessageRecorder message(limits);
  begin(message);
  CHECK_FALSE(message.add_body(std::string(500, 'x')));
  CHECK_THAT(std::string(message.text_fault()), Contains("missing"));
  CHECK_FALSE(message.add_body("y"));
  begin(message);
  CHECK(message.text_fault().empty());
  CHECK(message.add_body("y"));
}

TEST_CASE_METHOD(Recorded, "fields after the header's end and a body before it make the message fail") {
  begin(message);
  message.add_header("Subject", "late");
  CHECK_FALSE(message.text_fault().empty());
  message.begin_message("<joe@example.org>");
  CHECK(message.text_fault().empty());
  message.add_body("early");
  CHECK_FALSE(message.text_fault().empty());
  message.begin_message("<joe@example.org>");
  message.end_header(false);
  message.add_header("X-Spam-Flag", "late");
  CHECK(message.forged_fields().results().size() == 1);
  CHECK_FALSE(message.text_fault().empty());
}

TEST_CASE_METHOD(Recorded, "the space after a colon is kept in the text as it was sent") {
  message.set_leading_space(true);
  message.begin_message("<joe@example.org>");
  message.add_header("Subject", " one");
  message.add_header("X-Tight", "two");
  message.end_header(true);
  CHECK(text_of(message) == "Subject: one\r\nX-Tight:two\r\n\r\n");
}

TEST_CASE_METHOD(InFolder, "after a failure to keep the text no more of the body is kept") {
  MessageRecorder message(MessageText::Limits{.max_bytes = 1000, .memory_bytes = 30, .folder = folder.file("later")});
  begin(message);
  CHECK_FALSE(message.add_body("more than there is memory for"));
  CHECK_FALSE(message.text_fault().empty());
  const std::uint64_t kept = message.text().size();
  std::filesystem::create_directory(folder.file("later"));
  CHECK_FALSE(message.add_body("late"));
  CHECK(message.text().size() == kept);
}

}  // namespace
}  // namespace bloomgate::test
