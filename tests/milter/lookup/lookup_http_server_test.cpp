// HTTP on the socket for look-ups.
#include <catch2/catch.hpp>

#include "milter/lookup/http_lookup.hpp"
#include "milter/lookup/socketmap.hpp"
#include "tests/milter/lookup/lookup_server_of_test.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Server = test::LookupServerOfTest;
using test::receive;
using test::receive_all;
using test::send_text;

std::string answer_to(const Server& server, std::string_view request) {
  return test::answer_on(server.connect(), request);
}

std::string get(std::string_view target) {
  return std::string("GET ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

std::string post(std::string_view body) {
  return std::string("POST /senders HTTP/1.1\r\nHost: 127.0.0.1:9813\r\nContent-Length: ") +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

const std::string kJoe = get("/sender?address=joe@example.org");

TEST_CASE("the socket for look-ups answers HTTP as it answers netstrings") {
  const Server server;
  CHECK_THAT(answer_to(server, kJoe), Catch::StartsWith("HTTP/1.1 200 OK\r\n") &&
                                          Catch::Contains("Content-Type: text/plain") &&
                                          Catch::EndsWith("\r\n\r\nlisted\n"));
  CHECK_THAT(answer_to(server, get("/sender?address=pam@example.org&recipient=ann@ours.example")),
             Catch::EndsWith("\r\n\r\nlisted\n"));
  CHECK_THAT(answer_to(server, get("/sender?address=eve@example.org")), Catch::EndsWith("\r\n\r\nrevoked\n"));
  CHECK_THAT(answer_to(server, "HEAD /sender?address=joe@example.org HTTP/1.0\r\n\r\n"),
             Catch::Contains("Content-Length: 7\r\n") && Catch::EndsWith("\r\n\r\n"));
  CHECK_THAT(answer_to(server, post("joe@example.org\npam@example.org\neve@example.org\n")),
             Catch::EndsWith("\r\n\r\nlisted\nneither\nrevoked\n"));
}

TEST_CASE("a request by HTTP that comes byte by byte is answered") {
  const Server server;
  for (const std::string& request : {kJoe, post("eve@example.org\njoe@example.org")}) {
    const FileDescriptor slow = server.connect();
    for (const char byte : request) send_text(slow, {&byte, 1});
    CHECK_THAT(receive_all(slow), Catch::EndsWith("listed\n"));
  }
}

TEST_CASE("a body of the most bytes is answered, and a longer one is refused by its length") {
  const Server server;
  std::string lines;
  while (lines.size() + 27 <= kMaxPostedBytes) lines += "eve@example.org\npam@a.test\n";
  lines.resize(kMaxPostedBytes, 'x');
  const std::string answer = answer_to(server, post(lines));
  CHECK_THAT(answer, Catch::StartsWith("HTTP/1.1 413 "));  // of too many lines
  std::string long_lines;
  while (long_lines.size() < kMaxPostedBytes) long_lines += std::string(63, 'x') + "\n";
  CHECK_THAT(answer_to(server, post(long_lines)), Catch::StartsWith("HTTP/1.1 200 ") && Catch::EndsWith("neither\n"));
  for (const char* const length : {"262145", "4294967296", "18446744073709551615"}) {
    CHECK_THAT(answer_to(server, std::string("POST /senders HTTP/1.1\r\nContent-Length: ") + length + "\r\n\r\n"),
               Catch::StartsWith("HTTP/1.1 413 "));
  }
}

TEST_CASE("requests by HTTP that cannot be answered are refused") {
  const Server server;
  struct Case {
    std::string request, want;
  };
  const std::vector<Case> cases = {
      {get("/"), "404"},
      {get("/sender"), "400"},
      {get("/sender?address=%"), "400"},
      {get("/sender?address=a\x01"), "400"},
      {get(std::string_view("/sender?address=a\0b", 19)), "400"},
      {get(std::string(9000, 'x')), "431"},
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
    CHECK_THAT(answer_to(server, c.request), Catch::StartsWith("HTTP/1.1 " + c.want + " "));
  }
  CHECK_THAT(answer_to(server, kJoe), Catch::EndsWith("listed\n"));
}

TEST_CASE("HTTP behind a netstring is none") {
  const Server server;
  CHECK_THAT(answer_to(server, "23:senders joe@example.org," + kJoe), Catch::Contains("PERM expected a netstring"));
  const FileDescriptor client = server.connect();
  const std::string listed = netstring_of("OK listed");
  send_text(client, "23:senders joe@example.org,");
  CHECK(receive(client, listed.size()) == listed);
  CHECK_THAT(test::answer_on(client, kJoe), Catch::Contains("PERM expected a netstring"));
}

TEST_CASE("all lines of a body have the time of one to wait for a disk, and a fault is told once for each") {
  const Server server({.waiting = 60000ms});
  const Clock::time_point start = Clock::now();
  CHECK_THAT(answer_to(server, post("a\nfault@example.org\njoe@example.org")),
             Catch::EndsWith("\r\n\r\nneither\nneither\nlisted\n"));
  const auto deadlines = server.deadlines();
  REQUIRE(deadlines.size() == 3);
  CHECK(deadlines[0] == deadlines[2]);
  CHECK(deadlines[0] >= start + 60000ms);
  CHECK(server.faults() == std::vector<std::string>{"a sender could not be looked up: no answer"});
}

TEST_CASE("a client that sends its request by HTTP byte by byte is cut off at the deadline") {
  const Server server({.request = 300ms});
  for (const std::string_view front :
       {"GET /sender?address=", "POST /senders HTTP/1.1\r\nContent-Length: 5000\r\n\r\n"}) {
    const test::Trickled slow = test::trickle(server.connect(), front, "x");
    CHECK(slow.answer.empty());
    CHECK(slow.lasted >= 300ms);
  }
}

TEST_CASE("who speaks HTTP counts among the clients, and has to go when it has been silent longest") {
  const Server server({.connections = 2, .request = 60000ms});
  const FileDescriptor half = server.connect();
  send_text(half, "GET /sender");
  const FileDescriptor second = server.connect();
  CHECK_THAT(answer_to(server, kJoe), Catch::EndsWith("listed\n"));
  CHECK(receive_all(half).empty());
  // A client that has ended has left its place.
  for (int i = 0; i < 10; ++i) CHECK_THAT(answer_to(server, kJoe), Catch::EndsWith("listed\n"));
}

TEST_CASE("clients by HTTP that vanish at each byte, or while the server ends, leave nothing") {
  Server server;
  for (std::size_t length = 0; length <= kJoe.size(); ++length) send_text(server.connect(), kJoe.substr(0, length));
  const FileDescriptor half = server.connect();
  send_text(half, kJoe.substr(0, 10));
  CHECK_THAT(answer_to(server, kJoe), Catch::EndsWith("listed\n"));  // who has come after it
  server.end();
  CHECK(receive_all(half).empty());
}

}  // namespace
}  // namespace bloomgate
