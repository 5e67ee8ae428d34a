// HTTP on the socket for look-ups.
#include <sys/socket.h>

#include <thread>
#include <vector>

#include "milter/lookup/http_lookup.hpp"
#include "milter/lookup/socketmap.hpp"
#include "tests/milter/lookup/lookup_server_of_test.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/comes_true.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Server = LookupServerOfTest;

// The next answer of a connection that goes on, which must end with `want`; what came of it where it does not.
std::string ask(const FileDescriptor& client, std::string_view request, std::string_view want) {
  send_text(client, request);
  std::string answer;
  while (!answer.ends_with(want)) {
    const std::string byte = receive(client, 1);
    if (byte.empty()) break;
    answer += byte;
  }
  return answer;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string get(std::string_view target) {
  return std::string("GET ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

std::string post(std::string_view body) {
  return std::string("POST /senders HTTP/1.1\r\nHost: 127.0.0.1:9813\r\nContent-Length: ") +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

const std::string kJoe = get("/sender?address=joe@example.org");

TEST_CASE_METHOD(Server, "the socket for look-ups answers HTTP as it answers netstrings") {
  CHECK_THAT(answer_to(kJoe),
             StartsWith("HTTP/1.1 200 OK\r\n") && Contains("Content-Type: text/plain") && EndsWith("\r\n\r\nlisted\n"));
  CHECK_THAT(answer_to(get("/sender?address=pam@example.org&recipient=ann@ours.example")),
             EndsWith("\r\n\r\nlisted\n"));
  CHECK_THAT(answer_to(get("/sender?address=eve@example.org")), EndsWith("\r\n\r\nrevoked\n"));
  CHECK_THAT(answer_to("HEAD /sender?address=joe@example.org HTTP/1.0\r\n\r\n"),
             Contains("Content-Length: 7\r\n") && EndsWith("\r\n\r\n"));
  CHECK_THAT(answer_to(post("joe@example.org\npam@example.org\neve@example.org\n")),
             EndsWith("\r\n\r\nlisted\nneither\nrevoked\n"));
}

TEST_CASE_METHOD(Server, "a request by HTTP that comes byte by byte is answered") {
  for (const std::string& request : {kJoe, post("eve@example.org\njoe@example.org")}) {
    const FileDescriptor slow = connect();
    for (const char byte : request) send_text(slow, {&byte, 1});
    CHECK_THAT(ask(slow, "", "listed\n"), EndsWith("\r\n\r\nlisted\n") || EndsWith("revoked\nlisted\n"));
  }
}

TEST_CASE_METHOD(Server, "a body of the most bytes is answered, and a longer one is refused by its length") {
  std::string lines;
  while (lines.size() + 27 <= kMaxPostedBytes) lines += "eve@example.org\npam@a.test\n";
  lines.resize(kMaxPostedBytes, 'x');
  const std::string answer = answer_to(post(lines));
  CHECK_THAT(answer, StartsWith("HTTP/1.1 413 "));  // of too many lines
  std::string long_lines;
  while (long_lines.size() < kMaxPostedBytes) long_lines += std::string(63, 'x') + "\n";
  CHECK_THAT(answer_to(post(long_lines)), StartsWith("HTTP/1.1 200 ") && EndsWith("neither\n"));
  for (const char* const length : {"262145", "4294967296", "18446744073709551615"}) {
    CHECK_THAT(answer_to(std::string("POST /senders HTTP/1.1\r\nContent-Length: ") + length + "\r\n\r\n"),
               StartsWith("HTTP/1.1 413 "));
  }
  // More than a socket holds: a client may read the answer only when all of its body is sent.
  const std::string large(4'000'000, 'x');
  const Server patient({.answer = 60s});
  const FileDescriptor client = patient.connect();
  send_text(client, "POST /senders HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n");
  CHECK(send(client.get(), large.data(), large.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(large.size()));
  CHECK_THAT(receive_all(client), StartsWith("HTTP/1.1 413 ") && !Contains("has not hung up"));
}

TEST_CASE_METHOD(Server, "requests by HTTP that cannot be answered are refused") {
  struct Case {
    std::string request, want;
  };
  const std::vector<Case> cases = {
      {get("/"), "404"},
      {get("/sender"), "400"},
      {get("/sender?address=%"), "400"},
      {get("/sender?address=a\x01"), "400"},
      {get(std::string_view("/sender?address=a\0b", 19)), "400"},
      {get(std::string(40'000, 'x')), "431"},
      {"DELETE /sender HTTP/1.1\r\n\r\n", "405"},
      {"POST /senders HTTP/1.1\r\n\r\n", "411"},
      {"POST /senders HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "411"},
      {"POST /senders HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"},
      {"POST /senders HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n", "400"},
      {"POST /senders HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"},
      {"GET /sender?address=joe@example.org HTTP/1.1\r\nContent-Length: 1\r\n\r\n", "400"},
      {"GET /sender?address=joe@example.org HTTP/1.1\r\nHost: attacker.example\r\n\r\n", "421"},
      {"nonsense\r\n\r\n", "400"},
  };
  for (const Case& c : cases) {
    INFO(c.request.substr(0, 80));
    CHECK_THAT(answer_to(c.request), StartsWith("HTTP/1.1 " + c.want + " "));
  }
  CHECK_THAT(answer_to(kJoe), EndsWith("listed\n"));
}

TEST_CASE_METHOD(Server,
                 "a connection by HTTP serves further requests, also after refused ones, until its client ends it") {
  const FileDescriptor client = connect();
  for (int i = 0; i < 3; ++i) {
    for (const auto& [request, want] : std::vector<std::pair<std::string, std::string>>{
             {kJoe, "\r\n\r\nlisted\n"},
             {post("eve@example.org\njoe@example.org"), "\r\n\r\nrevoked\nlisted\n"},
             {"HEAD /sender?address=eve@example.org HTTP/1.1\r\n\r\n", "\r\n\r\n"},
             {get("/sender?address=eve@example.org"), "\r\n\r\nrevoked\n"},
             {get("/nothing"), "one of a whole message\n"},
             {"BREW /sender HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "are answered here\n"},
             {post(""), "Content-Length: 0\r\n\r\n"},
         }) {
      INFO(request);
      const std::string answer = ask(client, request, want);
      CHECK_THAT(answer, EndsWith(want) && !Contains("Connection: "));
    }
  }
  const std::string last = "GET /sender?address=joe@example.org HTTP/1.1\r\nConnection: close\r\n\r\n";
  CHECK_THAT(answer_on(client, last), Contains("\r\nConnection: close\r\n") && EndsWith("\r\n\r\nlisted\n"));
}

TEST_CASE("HTTP requests that arrive at once are answered in their order") {
  const Server server({.requests = 2000});
  std::string requests;
  for (int i = 0; i < 500; ++i) requests += kJoe + post("eve@example.org");
  const FileDescriptor client = server.connect();
  std::thread sender([&] {
    send_text(client, requests);
    shutdown(client.get(), SHUT_WR);
  });
  const std::string answers = receive_all(client);
  sender.join();
  CHECK(count_of(answers, "\r\n\r\nlisted\nHTTP/1.1 200 ") == 500);
  CHECK(count_of(answers, "\r\n\r\nrevoked\n") == 500);
  CHECK_THAT(answers, EndsWith("\r\n\r\nrevoked\n"));
}

TEST_CASE("the connection ends after the answer to its last permitted request, and no answer is lost") {
  const Server server({.requests = 3});
  const FileDescriptor client = server.connect();
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += kJoe;
  std::thread sender([&] { send_text(client, requests); });
  const std::string answers = receive_all(client);
  shutdown(client.get(), SHUT_RDWR);
  sender.join();
  CHECK(count_of(answers, "\r\n\r\nlisted\n") == 3);
  CHECK(count_of(answers, "Connection: close\r\n") == 1);
  CHECK(answers.find("Connection: close") > answers.rfind("HTTP/1.1 200 OK"));
}

TEST_CASE_METHOD(Server, "the rest of a request is never taken for another request") {
  const std::string eve = get("/sender?address=eve@example.org");
  const std::string length = "Content-Length: " + std::to_string(eve.size()) + "\r\n";
  const std::string joe = "GET /sender?address=joe@example.org HTTP/1.1\r\n";
  for (const std::string& request : {
           joe + length + "\r\n",
           joe + "Transfer-Encoding: chunked\r\n\r\n",
           joe + "Transfer-Encoding: identity\r\n\r\n",
           joe + "Transfer-Encoding: chunked, gzip\r\n\r\n",
           joe + "Transfer-Encoding: chunked\r\n" + length + "\r\n",
           joe + length + "Content-Length: 0\r\n\r\n",
           joe + "Connection: close\r\n\r\n",
           "BREW / HTTP/1.1\r\n" + length + "\r\n",
           std::string("POST /senders HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
           std::string("POST /senders HTTP/1.1\r\n\r\n"),
           std::string("BREW / HTTP/1.1\r\n\r\n"),
           std::string("POST /senders HTTP/1.1\r\nContent-Length: 4294967296\r\n\r\n"),
           std::string("GET /sender?address=joe@example.org HTTP/1.0\r\n\r\n"),
           std::string("GET /sender?address=joe@example.org HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
           std::string("nonsense\r\n\r\n"),
       }) {
    INFO(request);
    const std::string answer = answer_on(connect(), request + eve);
    CHECK_THAT(answer, StartsWith("HTTP/1.1 ") && Contains("Connection: close\r\n") && !Contains("revoked") &&
                           !Contains("has not hung up"));
  }
}

TEST_CASE_METHOD(Server, "HTTP after a netstring is refused") {
  CHECK_THAT(answer_to("23:senders joe@example.org," + kJoe), Contains("PERM expected a netstring"));
  const FileDescriptor client = connect();
  const std::string listed = netstring_of("OK listed");
  send_text(client, "23:senders joe@example.org,");
  CHECK(receive(client, listed.size()) == listed);
  CHECK_THAT(answer_on(client, kJoe), Contains("PERM expected a netstring"));
}

TEST_CASE("all lines of a body share the time of one wait for a disk, and each fault is reported once") {
  const Server server({.waiting = 60000ms});
  const Clock::time_point start = Clock::now();
  CHECK_THAT(server.answer_to(post("a\nfault@example.org\njoe@example.org")),
             EndsWith("\r\n\r\nneither\nneither\nlisted\n"));
  const auto deadlines = server.deadlines();
  REQUIRE(deadlines.size() == 3);
  CHECK(deadlines[0] == deadlines[2]);
  CHECK(deadlines[0] >= start + 60000ms);
  CHECK(server.faults() == std::vector<std::string>{"a sender could not be looked up: no answer"});
}

TEST_CASE("a client that sends its HTTP request byte by byte is cut off at the deadline") {
  const Server server({.request = 300ms});
  for (const std::string_view front :
       {"GET /sender?address=", "POST /senders HTTP/1.1\r\nContent-Length: 5000\r\n\r\n"}) {
    const Trickled slow = trickle(server.connect(), front, "x");
    CHECK(slow.answer.empty());
    CHECK(slow.lasted >= 300ms);
  }
}

TEST_CASE("a later HTTP request that arrives byte by byte is cut off at the deadline, and an idle client is not") {
  const Server server({.request = 300ms, .answer = 300ms});
  const FileDescriptor silent = server.connect();
  CHECK_THAT(ask(silent, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
  const Trickled slow = trickle(server.connect(), kJoe + "GET /sender?address=", "x");
  CHECK_THAT(slow.answer, StartsWith("HTTP/1.1 200 ") && EndsWith("\r\n\r\nlisted\n"));
  CHECK(slow.lasted >= 300ms);
  CHECK_THAT(ask(silent, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("an HTTP client without a further request for long is closed") {
  const Server server({.request = 60000ms, .answer = 60000ms, .idle = 300ms});
  const FileDescriptor client = server.connect();
  CHECK_THAT(ask(client, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
  CHECK(receive_all(client).empty());
}

TEST_CASE("an HTTP client that does not read its answers is cut off, and others are answered meanwhile") {
  const Server server({.requests = 1'000'000, .answer = 300ms});
  const FileDescriptor deaf = server.connect();
  std::thread sender([&] {
    // Until the server hangs up; its answers fill the socket first.
    while (send(deaf.get(), kJoe.data(), kJoe.size(), MSG_NOSIGNAL) > 0) continue;
  });
  CHECK_THAT(server.answer_to(kJoe), EndsWith("listed\n"));
  sender.join();
}

TEST_CASE("an HTTP client with a further request counts as active, and is not the one to be closed") {
  const Server server({.connections = 3});
  const FileDescriptor first = server.connect();
  CHECK_THAT(ask(first, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
  const FileDescriptor second = server.connect();
  CHECK_THAT(ask(second, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(ask(first, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
  const FileDescriptor third = server.connect();
  const FileDescriptor fourth = server.connect();
  CHECK_THAT(ask(fourth, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
  CHECK(receive_all(second).empty());
  CHECK_THAT(ask(first, kJoe, "listed\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("an HTTP client counts as a client, and is closed if it has been silent longest") {
  const Server server({.connections = 2, .request = 60000ms});
  const FileDescriptor half = server.connect();
  send_text(half, "GET /sender");
  const FileDescriptor second = server.connect();
  CHECK_THAT(server.answer_to(kJoe), EndsWith("listed\n"));
  CHECK(receive_all(half).empty());
  // A client that has ended has left its place.
  for (int i = 0; i < 10; ++i) CHECK_THAT(server.answer_to(kJoe), EndsWith("listed\n"));
}

TEST_CASE_METHOD(Server, "each message that is refused, or does not arrive, is reported with its status") {
  const std::string message = "POST /message HTTP/1.1\r\nHost: localhost\r\n";
  const std::vector<std::pair<std::string, unsigned>> cases = {
      {"PUT /message HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 405},
      {"GET /message HTTP/1.1\r\n\r\n", 405},
      {message + "Transfer-Encoding: chunked\r\n\r\n", 411},
      {message + "Content-Length: 11\r\n\r\n", 413},
      {"POST /message HTTP/1.1\r\nHost: attacker.example\r\nContent-Length: 1\r\n\r\nx", 421},
      {message + std::string(40'000, 'x'), 431},
  };
  std::vector<unsigned> want;
  for (const auto& [request, status] : cases) {
    INFO(request.substr(0, 80));
    CHECK_THAT(answer_to(request), StartsWith("HTTP/1.1 " + std::to_string(status) + " "));
    want.push_back(status);
  }
  // The client waits, and its message does not arrive in time.
  const FileDescriptor late = connect();
  send_text(late, message + "Content-Length: 5\r\n\r\nx");
  CHECK(receive_all(late).empty());
  want.push_back(0);
  CHECK(comes_true([&] { return refused() == want; }));
  // Nothing else is reported: the answer of the other thread, and refused requests for senders.
  CHECK_THAT(answer_to(message + "Content-Length: 1\r\n\r\nx"), StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(answer_to(get("/sender")), StartsWith("HTTP/1.1 400 "));
  CHECK(refused() == want);
  CHECK(comes_true([&] { return seconds() != 0; }));
}

TEST_CASE_METHOD(Server, "clients by HTTP that vanish at each byte, or while the server ends, leave nothing") {
  for (std::size_t length = 0; length <= kJoe.size(); ++length) send_text(connect(), kJoe.substr(0, length));
  const FileDescriptor half = connect();
  send_text(half, kJoe.substr(0, 10));
  CHECK_THAT(answer_to(kJoe), EndsWith("listed\n"));  // who has come after it
  end();
  CHECK(receive_all(half).empty());
}

}  // namespace
}  // namespace bloomgate::test
