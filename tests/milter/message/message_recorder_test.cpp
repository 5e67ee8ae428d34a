#include "milter/message/message_recorder.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/fresh_signature.hpp"

namespace bloomgate {
namespace {

struct Recorded {
  MessageRecorder message;
};

TEST_CASE_METHOD(Recorded, "a new recorder has no facts") {
  const Facts facts = message.facts({});
  CHECK_FALSE(facts.envelope_sender);
  CHECK(facts.header_from == HeaderFrom{});
  CHECK(facts.authentication.trusted_fields() == 0);
  CHECK_FALSE(facts.origin.client);
  CHECK_FALSE(facts.origin.logged_in);
  CHECK(facts.origin.daemon_name.empty());
  CHECK(message.forged_fields().marks() == 0);
  CHECK_FALSE(message.failed());
}

TEST_CASE_METHOD(Recorded, "a recorder keeps the sender as given, and counts only our headers") {
  message.begin_message("<Joe@Example.ORG> SIZE=1");
  for (const char* const name : {"From", "X-Bloomgate", "Subject", "x-BLOOMGATE ", "X-Bloomgate-Not"}) {
    message.add_header(name, "deliver");
  }
  CHECK(message.facts({}).envelope_sender == "<Joe@Example.ORG> SIZE=1");
  CHECK(message.forged_fields().marks() == 2);
}

TEST_CASE_METHOD(Recorded, "nothing of a message remains for the next one") {
  message.begin_message("<joe@example.org>");
  message.add_header("X-Bloomgate", "deliver");
  message.end_header(true);
  message.add_header("Subject", "late");
  REQUIRE(message.failed());

  SECTION("after a reset") {
    message.reset();
    CHECK_FALSE(message.facts({}).envelope_sender);
  }
  SECTION("after another MAIL") {
    message.begin_message("<ann@example.org>");
    CHECK(message.facts({}).envelope_sender == "<ann@example.org>");
  }
  CHECK(message.forged_fields().marks() == 0);
  CHECK_FALSE(message.failed());
}

TEST_CASE_METHOD(Recorded,
                 "From and Authentication-Results fields are read whatever the case of their names, and no others") {
  message.begin_message("<a@example.org>", {.login = "joe", .daemon_name = "MSA"});
  for (const char* const name : {"Sender", "Reply-To", "X-From", "Resent-From", "Return-Path"}) {
    message.add_header(name, "other@example.org");
  }
  message.add_header("FROM ", "Joe <joe@example.org>");
  const std::vector<std::string> trusted = {"mx.example.net"};
  message.add_header("X-Authentication-Results", "mx.example.net; dkim=pass header.d=example.com");
  message.add_header("ARC-Authentication-Results", "mx.example.net; dkim=pass header.d=example.com");
  message.add_header("authentication-RESULTS\t", "mx.example.net; dkim=pass header.d=example.org");
  const Facts facts = message.facts(trusted);
  CHECK(facts.header_from == HeaderFrom{HeaderFromKind::one_mailbox, "joe@example.org"});
  CHECK(facts.authentication.trusted_fields() == 1);
  CHECK(facts.origin.logged_in);
  CHECK(facts.origin.daemon_name == "MSA");
  CHECK(message.facts({}).authentication.trusted_fields() == 0);
}

TEST_CASE_METHOD(Recorded, "only as many Authentication-Results fields count, from the top, as milters write") {
  message.begin_message("<a@example.org>");
  message.add_header("From", "joe@example.org");
  message.add_header("Dkim-signature", test::fresh_signature("example.org"));
  message.add_header("Authentication-Results", "mx.example.net; dkim=none");
  message.add_header("authentication-RESULTS\t", "mx.example.net; dkim=pass header.d=example.org");
  const std::vector<std::string> trusted = {"mx.example.net"};
  CHECK_FALSE(message.facts(trusted, 1).authentication.dkim_aligned("example.org", Alignment::strict));
  for (const std::size_t number : {std::size_t{0}, std::size_t{2}, std::size_t{100}}) {
    CHECK(message.facts(trusted, number).authentication.dkim_aligned("example.org", Alignment::strict));
  }
}

TEST_CASE("a result of DKIM counts only while its signature covers what a reader sees") {
  const auto counts = [](const char* name, std::chrono::days age) {
    MessageRecorder message;
    message.begin_message("<a@example.org>");
    message.add_header("From", "joe@example.org");
    message.add_header(name, "x");
    message.add_header("DKIM-Signature", test::fresh_signature("example.org"));
    message.add_header("Authentication-Results", "mx.example.net; dkim=pass header.d=example.org");
    const std::vector<std::string> trusted = {"mx.example.net"};
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + age;
    return message.facts(trusted, 0, {}, now).authentication.dkim_aligned("example.org", Alignment::strict);
  };
  CHECK(counts("X-Any", std::chrono::days(9)));
  CHECK_FALSE(counts("Subject", std::chrono::days(0)));
  CHECK_FALSE(counts("X-Any", std::chrono::days(11)));
}

TEST_CASE_METHOD(Recorded, "the space after a colon is not a part of a value") {
  message.set_leading_space(true);
  message.begin_message("<a@example.org>");
  message.add_header("From", "\tJoe <joe@example.org>");
  message.add_header("DKIM-Signature", " " + test::fresh_signature("example.org"));
  message.add_header("Authentication-Results", " mx.example.net; dkim=pass header.d=example.org");
  const std::vector<std::string> trusted = {"mx.example.net"};
  const Facts facts = message.facts(trusted);
  CHECK(facts.header_from.address == "joe@example.org");
  CHECK(facts.authentication.dkim_aligned("example.org", Alignment::strict));
}

TEST_CASE_METHOD(Recorded, "too many or too long From fields give no sender, and take little memory") {
  message.begin_message("<a@example.org>");
  SECTION("many") {
    for (int i = 0; i < 100'000; ++i) message.add_header("From", "joe@example.org");
    CHECK(message.facts({}).header_from.kind == HeaderFromKind::several_fields);
  }
  SECTION("long") {
    message.add_header("From", std::string(kMaxHeaderFromBytes, ' ') + "joe@example.org");
    CHECK(message.facts({}).header_from.kind == HeaderFromKind::malformed);
  }
  SECTION("cut off where a whole address ends") {
    std::string value = "joe@example.org";
    value.append(kMaxHeaderFromBytes + 1 - value.size(), ' ').append(",ann@example.org");
    message.add_header("From", value);
    CHECK(message.facts({}).header_from.kind == HeaderFromKind::malformed);
  }
  CHECK_FALSE(message.failed());
}

TEST_CASE_METHOD(Recorded, "a message with more results than the limit has failed, and the next one has not") {
  message.begin_message("<a@example.org>");
  SECTION("many") {
    for (int i = 0; i < 2000; ++i) message.add_header("Authentication-Results", "x; none");
  }
  SECTION("long") {
    for (int i = 0; i < 40; ++i) message.add_header("Authentication-Results", std::string(65536, 'x'));
  }
  CHECK(message.failed());
  message.add_header("From", "joe@example.org");
  CHECK(message.failed());
  message.begin_message("<a@example.org>");
  CHECK_FALSE(message.failed());
}

TEST_CASE_METHOD(Recorded, "the client's address holds for all its messages, and its login for each message") {
  const auto client = parse_ip_address("192.0.2.1");
  message.begin_connection(client);
  for (int i = 0; i < 2; ++i) {
    message.begin_message("<a@example.org>", {.login = i == 0 ? "joe" : "", .daemon_name = ""});
    CHECK(message.facts({}).origin.client == client);
    CHECK(message.facts({}).origin.logged_in == (i == 0));
    message.reset();
  }
  message.begin_connection(std::nullopt);
  message.begin_message("<a@example.org>");
  CHECK_FALSE(message.facts({}).origin.client);
}

TEST_CASE_METHOD(
    Recorded,
    "a message with a field behind the end of its header has failed, whatever the field, and our marks are counted") {
  message.begin_message("<a@example.org>");
  message.end_header(false);
  CHECK_FALSE(message.failed());
  message.add_header("X-Bloomgate", "deliver");
  CHECK(message.failed());
  CHECK(message.exception_at().empty());
  CHECK(message.forged_fields().marks() == 1);
  message.begin_message("<a@example.org>");
  message.add_header("X-Bloomgate", "deliver");
  CHECK_FALSE(message.failed());
}

TEST_CASE_METHOD(Recorded, "an empty sender is a sender, unlike a missing one") {
  message.begin_message("");
  CHECK(message.facts({}).envelope_sender == "");
}

// The fields that are kept for a verifier; "none" where not all of them are.
std::vector<std::string> header_of(MessageRecorder& message) {
  const auto fields = message.header();
  if (!fields) return {"none"};
  return {fields->begin(), fields->end()};
}

TEST_CASE("if a verifier needs it, the header is kept as it was sent, forged fields included") {
  using Fields = std::vector<std::string>;
  MessageRecorder message;
  message.begin_message("<a@example.org>");
  message.add_header("Subject", "it is");
  CHECK(header_of(message).empty());
  message.keep_header(true);
  message.begin_message("<a@example.org>");
  message.add_header("Subject", "it is\n\tfolded");
  message.add_header("X-Bloomgate", "deliver");
  message.add_header("Cc", "\nann@example.org,\r\n joe@example.org");
  CHECK(header_of(message) ==
        Fields{"Subject: it is\r\n\tfolded", "X-Bloomgate: deliver", "Cc: \r\nann@example.org,\r\n joe@example.org"});
  message.set_leading_space(true);
  message.begin_message("<a@example.org>");
  message.add_header("Subject", " it is");
  message.add_header("Subject", "it is");
  CHECK(header_of(message) == Fields{"Subject: it is", "Subject:it is"});
}

TEST_CASE_METHOD(Recorded, "a header above the verifier's limit is dropped until the next message") {
  message.keep_header(true);
  const std::string most(MessageRecorder::kMaxKeptHeaderBytes - 3, 'x');
  message.begin_message("<a@example.org>");
  message.add_header("A", most);
  CHECK(header_of(message) == std::vector<std::string>{"A: " + most});
  SECTION("together") {
    message.add_header("B", "");
  }
  SECTION("one field") {
    message.begin_message("<a@example.org>");
    message.add_header("A", most + "x");
  }
  SECTION("many fields") {
    message.begin_message("<a@example.org>");
    for (int i = 0; i < 1000; ++i) message.add_header("A", "");
    CHECK(header_of(message).size() == 1000);
    message.add_header("A", "");
  }
  CHECK(header_of(message) == std::vector<std::string>{"none"});
  message.add_header("B", "short");
  CHECK(header_of(message) == std::vector<std::string>{"none"});
  CHECK_FALSE(message.failed());
  message.begin_message("<a@example.org>");
  message.add_header("B", "short");
  CHECK(header_of(message) == std::vector<std::string>{"B: short"});
}

TEST_CASE_METHOD(Recorded, "after a reset, and after another client has connected, there is no sender") {
  message.begin_message("<a@example.org>", {.login = "joe", .daemon_name = "MSA"});
  SECTION("a reset") {
    message.reset();
  }
  SECTION("another client") {
    message.begin_connection(std::nullopt);
  }
  const Facts facts = message.facts({});
  CHECK_FALSE(facts.envelope_sender);
  CHECK_FALSE(facts.origin.logged_in);
  CHECK(facts.origin.daemon_name.empty());
  CHECK(message.envelope({}).sender.empty());
}

Recipients recipients_of(MessageRecorder& message) {
  return message.facts({}).recipients;
}

TEST_CASE_METHOD(Recorded, "recipients are known if the mail server sends them, and else unknown") {
  message.begin_message("<joe@example.org>");
  message.add_recipient("<ann@example.net>");
  CHECK(recipients_of(message).state == Recipients::State::unknown);
  CHECK(recipients_of(message).paths.empty());
  message.expect_recipients(true);
  message.begin_message("<joe@example.org>");
  CHECK_FALSE(recipients_of(message).are_known());
  message.add_recipient("<ann@example.net>");
  message.add_recipient("bob@example.net");
  const Recipients told = recipients_of(message);
  CHECK(told.are_known());
  CHECK(std::vector<std::string_view>(told.paths.begin(), told.paths.end()) ==
        std::vector<std::string_view>{"ann@example.net", "bob@example.net"});
  message.begin_message("<joe@example.org>");
  CHECK_FALSE(recipients_of(message).are_known());
}

TEST_CASE_METHOD(Recorded, "one field makes a message automatic, and not the next one") {
  message.begin_message("<joe@example.org>");
  message.add_header("Subject", "bulk");
  CHECK_FALSE(message.facts({}).is_automatic);
  message.add_header("Precedence", "bulk");
  message.add_header("Auto-Submitted", "no");
  CHECK(message.facts({}).is_automatic);
  message.begin_message("<joe@example.org>");
  CHECK_FALSE(message.facts({}).is_automatic);
}

TEST_CASE_METHOD(Recorded, "the first Content-Type field is kept until the next message") {
  message.begin_message("<joe@example.org>");
  CHECK(message.content_type().empty());
  message.add_header("Content-Type ", "multipart/mixed;\n boundary=x");
  message.add_header("content-type", "text/plain");
  CHECK(message.content_type() == "multipart/mixed;\n boundary=x");
  message.begin_message("<joe@example.org>");
  message.add_header("content-type", std::string(5000, 'x'));
  CHECK(message.content_type() == std::string(4096, 'x'));
}

TEST_CASE("one recipient too many or too long makes the recipients too many until the next message") {
  using enum Recipients::State;
  MessageRecorder message;
  message.expect_recipients(true);
  const auto begin = [&] { message.begin_message("<joe@example.org>"); };
  begin();
  for (int i = 0; i < 1000; ++i) message.add_recipient("<a@b.c>");
  CHECK(recipients_of(message).state == all);
  message.add_recipient("<a@b.c>");
  CHECK(recipients_of(message).state == too_many);
  CHECK(recipients_of(message).paths.empty());
  begin();
  message.add_recipient("<" + std::string(1024, 'x') + ">");
  CHECK(recipients_of(message).state == all);
  // Cut off it would be another address.
  message.add_recipient("<" + std::string(1015, 'x') + "@ours.example>");
  message.add_recipient("<a@b.c>");
  CHECK(recipients_of(message).state == too_many);
  begin();
  for (int i = 0; i < 33; ++i) message.add_recipient(std::string(1000, 'x'));
  CHECK(recipients_of(message).state == too_many);
  begin();
  message.add_recipient("<a@b.c>");
  CHECK(recipients_of(message).are_known());
}

TEST_CASE_METHOD(Recorded, "a header is ambiguous if a field holds a control character that is no tab and no fold") {
  const auto is_ambiguous = [this](std::string_view value) {
    message.begin_message("<joe@example.org>");
    message.add_header("Received", "from a\n\tby b\r\n\twith c");
    message.add_header("X-Foo", value);
    return message.facts({}).is_header_ambiguous;
  };
  for (const std::string_view value : {"", "a", "a\tb", "a\n b", "a\r\n\tb", "caf\xc3\xa9", "\x85"}) {
    CHECK_FALSE(is_ambiguous(value));
  }
  using namespace std::string_view_literals;
  for (const std::string_view value : {"a\rSubject: b"sv, "\r"sv, "a\r\r\n b"sv, "a\0b"sv, "a\vb"sv, "a\fb"sv, "\x7f"sv,
                                       "0123456789abcdef\rReply-To: x"sv}) {
    CHECK(is_ambiguous(value));
  }
  CHECK_FALSE(is_ambiguous("the next message"));
}

TEST_CASE_METHOD(Recorded, "a message is a bounce if it is a report, an automatic answer, or from a MAILER-DAEMON") {
  const auto is_bounce = [this](std::string_view from, std::string_view type) {
    message.begin_message("<joe@example.org>");
    message.add_header("From", from);
    message.add_header("Content-Type", type);
    return message.facts({}).is_bounce;
  };
  CHECK(is_bounce("joe@example.org", "multipart/report; report-type=delivery-status; boundary=x"));
  CHECK(is_bounce("joe@example.org", " Multipart/Report;\n\tboundary=x"));
  CHECK(is_bounce("Mail Delivery System <MAILER-DAEMON@mx.example.org>", "text/plain"));
  CHECK(is_bounce("mailer-daemon@example.org (Mail)", "text/plain"));
  CHECK(is_bounce("\"MAILER-DAEMON\"@example.org", "text/plain"));
  CHECK(is_bounce("<@relay.example:MAILER-DAEMON@example.org>", "text/plain"));
  CHECK(is_bounce("MAILER-DAEMON+x@example.org", "text/plain"));
  CHECK(is_bounce("joe@example.org", "multipart / report; boundary=x"));
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"Auto-Submitted", "auto-replied (vacation)"},
                                                        {"X-Failed-Recipients", "ann@example.net"},
                                                        {"X-Autoreply", "yes"},
                                                        {"Precedence", "auto_reply"},
                                                        {"X-Autoreply-From", "joe@example.org"}}) {
    message.begin_message("<joe@example.org>");
    message.add_header(name, value);
    CHECK(message.facts({}).is_bounce);
  }
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"Auto-Submitted", "auto-generated"},
                                                        {"Auto-Submitted", "no"},
                                                        {"X-Autoreply", "no"},
                                                        {"Precedence", "bulk"}}) {
    message.begin_message("<joe@example.org>");
    message.add_header(name, value);
    CHECK_FALSE(message.facts({}).is_bounce);
  }
  CHECK_FALSE(is_bounce("joe@example.org", "application/pdf; name=report.pdf"));
  CHECK_FALSE(is_bounce("MAILER-DAEMON <joe@example.org>", "multipart/mixed; boundary=report"));
}

}  // namespace
}  // namespace bloomgate
