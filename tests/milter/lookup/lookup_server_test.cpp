#include "milter/lookup/lookup_server.hpp"

#include <thread>
#include <vector>

#include "milter/lookup/socketmap.hpp"
#include "tests/milter/lookup/lookup_server_of_test.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stream_sockets.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Server = LookupServerOfTest;

const std::string kListed = netstring_of("OK listed");
const std::string kRevoked = netstring_of("OK revoked");
const std::string kNotFound = netstring_of("NOTFOUND ");

std::string request(std::string_view key) {
  return netstring_of(std::string("senders ").append(key));
}

std::string ask(const FileDescriptor& client, std::string_view key, std::string_view want) {
  send_text(client, request(key));
  return receive(client, want.size());
}

TEST_CASE_METHOD(Server, "each question of a connection is answered") {
  const FileDescriptor client = connect();
  CHECK(ask(client, "joe@example.org", kListed) == kListed);
  CHECK(ask(client, "eve@example.org", kRevoked) == kRevoked);
  CHECK(ask(client, "pam@example.org", kNotFound) == kNotFound);
  CHECK(ask(client, "pam@example.org > ann@ours.example", kListed) == kListed);
  CHECK(ask(client, "", kNotFound) == kNotFound);
  CHECK(ask(client, "example.org", kNotFound) == kNotFound);
}

TEST_CASE_METHOD(Server, "questions that come at once, or byte by byte, are answered in their order") {
  std::string questions;
  std::string answers;
  for (int i = 0; i < 5000; ++i) {
    questions += request("pam@example.org").append(request("joe@example.org"));
    answers += kNotFound + kListed;
  }
  const FileDescriptor fast = connect();
  std::thread sender([&] { send_text(fast, questions); });
  CHECK(receive(fast, answers.size()) == answers);
  sender.join();

  const FileDescriptor slow = connect();
  for (const char byte : request("joe@example.org")) send_text(slow, {&byte, 1});
  CHECK(receive(slow, kListed.size()) == kListed);
}

TEST_CASE_METHOD(Server, "another map is refused, and the connection continues") {
  const FileDescriptor client = connect();
  for (const std::string_view payload : {"domains joe@example.org", "senders", "", "SENDERS joe@example.org"}) {
    INFO(payload);
    const std::string want = netstring_of("PERM the only map here is 'senders'");
    send_text(client, netstring_of(payload));
    CHECK(receive(client, want.size()) == want);
  }
  CHECK(ask(client, "joe@example.org", kListed) == kListed);
}

TEST_CASE_METHOD(Server, "a client that breaks the protocol gets earlier answers and an error, and is closed") {
  for (const std::string& bytes : {std::string("GET /sender?address=joe@example.org HTTP/1.1\r\n\r\n"),
                                   std::string("5000:"), std::string("3:abc;"), std::string(100'000, '9')}) {
    INFO(bytes.substr(0, 20));
    const FileDescriptor client = connect();
    send_text(client, request("joe@example.org") + bytes);
    // The answer to a flood may be lost, since the server hangs up on bytes that it has not read.
    const std::string got = receive_all(client);
    if (bytes.size() < 100) CHECK_THAT(got, StartsWith(kListed) && Contains("PERM expected a netstring"));
    CHECK_THAT(got, !Contains("has not hung up"));
  }
}

TEST_CASE_METHOD(Server, "a question that cannot be answered gets the answer for an unlisted sender, and is reported") {
  const FileDescriptor client = connect();
  CHECK(ask(client, "fault@example.org", kNotFound) == kNotFound);
  CHECK(faults() == std::vector<std::string>{"a sender could not be looked up: no answer"});
}

TEST_CASE("all questions that arrive at once share the time of one wait for a disk") {
  const Server server({.waiting = 60000ms});
  const FileDescriptor client = server.connect();
  const Clock::time_point start = Clock::now();
  send_text(client, request("a") + request("b"));
  CHECK(receive(client, 2 * kNotFound.size()) == kNotFound + kNotFound);
  const std::vector<Clock::time_point> deadlines = server.deadlines();
  REQUIRE(deadlines.size() == 2);
  CHECK(deadlines[0] == deadlines[1]);
  CHECK(deadlines[0] >= start + 60000ms);
}

TEST_CASE("a client that sends a request byte by byte is cut off at the deadline, and one that is silent is not") {
  const Server server({.request = 300ms, .answer = 300ms});
  const FileDescriptor silent = server.connect();
  CHECK(ask(silent, "joe@example.org", kListed) == kListed);
  const Trickled slow = trickle(server.connect(), "1000:", "x");
  CHECK(slow.answer.empty());
  CHECK(slow.lasted >= 300ms);
  CHECK(ask(silent, "joe@example.org", kListed) == kListed);
}

TEST_CASE("a client that does not read its answers is cut off, and others are answered meanwhile") {
  const Server server({.answer = 300ms});
  const FileDescriptor deaf = server.connect();
  std::string questions;
  for (int i = 0; i < 500; ++i) questions += netstring_of("x");  // with long answers
  std::thread sender([&] {
    // Until the server hangs up; its answers fill the socket first.
    while (send(deaf.get(), questions.data(), questions.size(), MSG_NOSIGNAL) > 0) continue;
  });
  CHECK(ask(server.connect(), "joe@example.org", kListed) == kListed);
  sender.join();
}

TEST_CASE("if there are too many clients, the one that has been silent longest is closed") {
  const Server server({.connections = 3});
  const FileDescriptor first = server.connect();
  CHECK(ask(first, "joe@example.org", kListed) == kListed);
  const FileDescriptor second = server.connect();
  CHECK(ask(second, "joe@example.org", kListed) == kListed);
  CHECK(ask(first, "joe@example.org", kListed) == kListed);
  const FileDescriptor third = server.connect();
  const FileDescriptor fourth = server.connect();
  CHECK(ask(fourth, "joe@example.org", kListed) == kListed);
  CHECK(receive_all(second).empty());
  CHECK(ask(first, "joe@example.org", kListed) == kListed);
  CHECK(ask(third, "joe@example.org", kListed) == kListed);
}

TEST_CASE_METHOD(Server, "the server continues after clients that vanish at each byte") {
  const std::string whole = request("joe@example.org");
  for (std::size_t length = 0; length <= whole.size(); ++length) send_text(connect(), whole.substr(0, length));
  CHECK(ask(connect(), "joe@example.org", kListed) == kListed);
}

TEST_CASE_METHOD(Server, "the server for look-ups ends at once, also with clients connected") {
  const FileDescriptor idle = connect();
  const FileDescriptor half = connect();
  send_text(half, "20:");
  CHECK(ask(idle, "joe@example.org", kListed) == kListed);
  end();
  CHECK(receive_all(idle).empty());
  CHECK(receive_all(half).empty());
}

}  // namespace
}  // namespace bloomgate::test
