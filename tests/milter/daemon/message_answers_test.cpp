// Whole messages that are posted to the socket for look-ups, with the parts that decide, and real clients.
#include "milter/daemon/message_answers.hpp"

#include <future>
#include <thread>
#include <vector>

#include "filter/base/json.hpp"
#include "milter/daemon/sender_lookups.hpp"
#include "milter/dkim/verifier.hpp"
#include "tests/milter/judge/hearing_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/comes_true.hpp"
#include "tests/support/stream_sockets.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;

const std::string kMessage = "From: joe@example.org\r\nSubject: x\r\n\r\nHello.\r\n";

std::string head(std::string_view fields, std::size_t bytes) {
  return std::string("POST /message HTTP/1.1\r\nHost: localhost\r\n").append(fields) +
         "Content-Length: " + std::to_string(bytes) + "\r\n\r\n";
}

std::string post(std::string_view fields, std::string_view message) {
  return head(fields, message.size()).append(message);
}

const std::string kJoe = "Envelope-From: joe@example.org\r\n";
const std::string kPam = "Envelope-From: pam@example.org\r\n";

// With a judge who learns.
class Server : public Teaching {
 public:
  Server() {
    shared.judge = &learning;
    shared.record = &record;
    options.lookup_socket = parse_socket_address("unix:" + path);
    options.socket_mode = 0600;
    options.lookup_messages = 2;
  }

  void begin() { lookups.emplace(options, learning, learned, served, log.logger()); }

  FileDescriptor connect() {
    if (!lookups) begin();
    return connect_to(path);
  }
  std::string answer_to(std::string_view request) {
    const FileDescriptor client = connect();
    send_text(client, request);
    shutdown(client.get(), SHUT_WR);
    return receive_all(client);
  }
  Json decision_of(std::string_view fields, std::string_view mail = kMessage) {
    const std::string answer = answer_to(post(fields, mail));
    INFO(answer);
    REQUIRE_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n") && Contains("Content-Type: application/json\r\n"));
    return Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  }
  std::string word_of(std::string_view fields, std::string_view mail = kMessage) {
    const Json json = decision_of(fields, mail);
    return std::string(json.at("decision").text().value_or("")) + ' ' +
           std::string(json.at("reason").text().value_or(""));
  }

  TemporaryFolder folder_of_socket;
  std::string path = folder_of_socket.file("lookup");
  DaemonOptions options = list_options({});
  LearnedLookUps learned{options, log.logger()};
  std::optional<SenderLookups> lookups;
};

TEST_CASE_METHOD(Server, "a message that is posted is decided, explained, and in the log") {
  log.logger()->set_level(spdlog::level::info);
  const Json json =
      decision_of(kJoe + "Envelope-To: ann@ours.example\r\nQueue-Id: 4XyZ1\r\nMta-Name: mx.ours.example\r\n");
  CHECK(json.at("decision").text() == "deliver");
  CHECK(json.at("reason").text() == "listed");
  CHECK_THAT(std::string(json.at("mark").text().value_or("")),
             StartsWith("deliver; reason=listed; host=mx.ours.example"));
  CHECK(json.at("complete").is_true());
  CHECK_FALSE(json.at("steps").elements().empty());
  CHECK_THAT(std::string(json.at("why").text().value_or("")), StartsWith("Delivered, because"));
  CHECK_THAT(log.text(), Contains("queue_id=4XyZ1 sender=<joe@example.org> decision=deliver reason=listed"));
  CHECK(word_of(kPam) == "check not-listed");
  CHECK(word_of("Envelope-From:\r\n") == "check null-sender");
  CHECK(word_of("Envelope-From: not.an.address\r\n") == "check malformed-sender");
}

TEST_CASE_METHOD(Server, "what is posted in any way that is not understood is refused with its status") {
  const std::tuple<std::string, std::string_view, std::string_view> refused[] = {
      {post("", kMessage), "400", "Envelope-From: it is missing"},
      {post(kJoe + kPam, kMessage), "400", "Envelope-From: it is there twice"},
      {"POST /message?from=x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", "400", "no query"},
      {post(kJoe, "no field\r\n\r\n"), "400", "a line of its header is no field"},
      {post(kJoe, ""), "400", "its header has no end"},
      {head(kJoe, kMaxPostedMessageBytes + 1), "413", "at most 33554432 bytes"},
      {"POST /message HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "411", "length"},
      {"GET /message HTTP/1.1\r\nHost: localhost\r\n\r\n", "405", "POST"},
      {"POST /message HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1\r\n\r\nx", "421", "by number"},
  };
  for (const auto& [request, status, want] : refused) {
    INFO(request.substr(0, 100));
    CHECK_THAT(answer_to(request), StartsWith("HTTP/1.1 " + std::string(status)) && Contains(std::string(want)));
  }
  CHECK(word_of(kJoe) == "deliver listed");
}

TEST_CASE_METHOD(Server, "no message is decided where the option is not set; senders are looked up all the same") {
  options.lookup_messages = 0;
  CHECK_THAT(answer_to(post(kJoe, kMessage)), StartsWith("HTTP/1.1 404") && Contains("lookup-messages"));
  CHECK_THAT(answer_to("GET /sender?address=joe@example.org HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             EndsWith("listed\n"));
}

TEST_CASE_METHOD(Server, "where a token is asked for, a message without it is not decided") {
  const std::string token = folder.file("token");
  write_file(token, "abcdefghijklmnopqrstuvwxyz\n");
  std::filesystem::permissions(token, std::filesystem::perms(0640));
  options.lookup_token = token;
  CHECK_THAT(answer_to(post(kJoe, kMessage)), StartsWith("HTTP/1.1 401") && Contains("WWW-Authenticate: Bearer\r\n"));
  CHECK_THAT(answer_to(post(kJoe + "Authorization: Bearer abc\r\n", kMessage)), StartsWith("HTTP/1.1 401"));
  CHECK_THAT(answer_to(post(kJoe + "Authorization: Bearer abcdefghijklmnopqrstuvwxyz\r\n", kMessage)),
             StartsWith("HTTP/1.1 200") && Contains("\"deliver\""));
  // Who asks for a sender shows nothing.
  CHECK_THAT(answer_to("GET /sender?address=joe@example.org HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             EndsWith("listed\n"));
}

TEST_CASE_METHOD(Server, "where the token cannot be read, no message is decided, and the log says so") {
  options.lookup_token = folder.file("none");
  CHECK_THAT(answer_to(post(kJoe, kMessage)), StartsWith("HTTP/1.1 404"));
  CHECK_THAT(log.text(), Contains("error: lookup-messages: no message is decided"));
}

TEST_CASE_METHOD(Server, "a message that is only observed is not delivered") {
  shared.mode = Mode::observe;
  const Json json = decision_of(kJoe);
  CHECK(json.at("decision").text() == "check");
  CHECK(json.at("observed").text() == "deliver");
  CHECK_THAT(std::string(json.at("why").text().value_or("")), StartsWith("Checked, because the mode is observe"));
  CHECK_FALSE(json.at("mark").text());
}

TEST_CASE_METHOD(Server, "a message that is posted teaches nothing") {
  const std::string mail = "From: ann@ours.example\r\nTo: zoe@example.org\r\n\r\nHello.\r\n";
  const std::string fields = "Envelope-From: ann@ours.example\r\nEnvelope-To: zoe@example.org\r\nAuth-Login: ann\r\n";
  decision_of(fields, mail);
  hear({.recipients = {"tom@example.org"}, .fields = {{"From", "ann@ours.example"}, {"To", "tom@example.org"}}});
  CHECK(comes_true([&] { return learner.is_learned("ann@ours.example", "tom@example.org"); }));
  CHECK_FALSE(knows_zoe());
}

TEST_CASE_METHOD(Server, "a message with more forged fields than can be removed is refused") {
  std::string forged;
  for (int i = 0; i < 4000; ++i) forged += "X-Bloomgate: deliver\r\n";
  CHECK(word_of(kJoe, forged + kMessage) == "refuse forged-fields");
}

TEST_CASE_METHOD(Server, "at most so many messages are decided at once, and others are told to come again") {
  const FileDescriptor first = connect();
  const FileDescriptor second = connect();
  // Their place is theirs once their header has come.
  for (const FileDescriptor* const each : {&first, &second}) {
    send_text(*each, head(kJoe + "Expect: 100-continue\r\n", kMessage.size()));
    CHECK(receive(*each, 25) == "HTTP/1.1 100 Continue\r\n\r\n");
  }
  CHECK_THAT(answer_to(post(kJoe, kMessage)),
             StartsWith("HTTP/1.1 503") && Contains("Retry-After: 1\r\n") && Contains("too many messages at once"));
  CHECK_THAT(answer_to("GET /sender?address=joe@example.org HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             EndsWith("listed\n"));
  for (const FileDescriptor* const each : {&first, &second}) {
    send_text(*each, kMessage);
    shutdown(each->get(), SHUT_WR);
    CHECK_THAT(receive_all(*each), StartsWith("HTTP/1.1 200"));
  }
  // Who was refused is in the log, once a minute.
  CHECK_THAT(log.text(),
             Contains("warning: lookup-messages: 1 posted message was not decided, the last with status 503"));
  // A client that is gone has left its place.
  send_text(connect(), head(kJoe, 1000));
  CHECK(comes_true([&] { return word_of(kJoe) == "deliver listed"; }));
}

TEST_CASE_METHOD(Server, "a client whose message is awaited keeps its place among many that are idle") {
  const FileDescriptor busy = connect();
  send_text(busy, head(kJoe + "Expect: 100-continue\r\n", kMessage.size()));
  CHECK(receive(busy, 25) == "HTTP/1.1 100 Continue\r\n\r\n");
  std::vector<FileDescriptor> idle;
  for (int i = 0; i < 300; ++i) idle.push_back(connect());
  CHECK(word_of(kPam) == "check not-listed");
  send_text(busy, kMessage);
  shutdown(busy.get(), SHUT_WR);
  CHECK_THAT(receive_all(busy), StartsWith("HTTP/1.1 200"));
}

TEST_CASE_METHOD(Server, "a connection takes another request behind the decision of a message") {
  const FileDescriptor client = connect();
  send_text(client, post(kJoe, kMessage) + post(kPam, kMessage));
  shutdown(client.get(), SHUT_WR);
  CHECK_THAT(receive_all(client), Contains("\"reason\":\"listed\"") && Contains("\"reason\":\"not-listed\""));
}

// Says in the end that nothing is signed, and waits before until it may.
class SlowVerifier : public Verifier {
 public:
  std::unique_ptr<Verification> begin(const VerifyRequest&) override { return std::make_unique<Message>(*this); }

  std::promise<void> is_asked, may_answer;

 private:
  class Message : public Verification {
   public:
    explicit Message(SlowVerifier& verifier) : verifier_(verifier) {}
    bool add_body(std::string_view) noexcept override { return true; }
    bool is_over() const noexcept override { return false; }
    Signatures finish() noexcept override {
      verifier_.is_asked.set_value();
      verifier_.may_answer.get_future().wait();
      return {};
    }

   private:
    SlowVerifier& verifier_;
  };
};

// A posted message is decided once the verifier may answer.
struct WaitingServer : Server {
  WaitingServer() {
    JudgeRules rules = rules_for(IdentityRule::header_from);
    rules.policy.authentication = AuthenticationRule::required;
    rules.policy.verify_signatures = true;
    learning.set_rules(std::make_shared<const JudgeRules>(std::move(rules)));
    shared.verifier = borrowed<Verifier>(verifier);
  }

  FileDescriptor post_and_wait() {
    FileDescriptor client = connect();
    send_text(client, post(kJoe, kMessage));
    verifier.is_asked.get_future().wait();
    return client;
  }

  SlowVerifier verifier;
};

TEST_CASE_METHOD(WaitingServer,
                 "the daemon's end waits for a message that is being decided, and its client gets the answer") {
  const FileDescriptor client = post_and_wait();
  // Senders are looked up meanwhile.
  CHECK_THAT(answer_to("GET /sender?address=joe@example.org HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             EndsWith("listed\n"));
  std::thread ending([&] { lookups.reset(); });
  verifier.may_answer.set_value();
  ending.join();
  CHECK_THAT(receive_all(client), StartsWith("HTTP/1.1 200") && Contains("\"reason\":\"not-authenticated\""));
  CHECK(in_progress.wait_for_none(0ms) == 0);
}

TEST_CASE_METHOD(WaitingServer, "the daemon's end does not wait longer for a posted message than for others") {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const FileDescriptor client = post_and_wait();
  CHECK_FALSE(lookups->finish_by(now()));
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(in_progress.wait_for_none(0ms) == 1);
  // The object lives on, and so does the thread.
  verifier.may_answer.set_value();
  CHECK(lookups->finish_by(now() + 1min));
  CHECK_THAT(receive_all(client), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace bloomgate::test
