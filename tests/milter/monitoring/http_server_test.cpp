#include "milter/monitoring/http_server.hpp"

#include <arpa/inet.h>
#include <poll.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "filter/system/file_descriptor.hpp"
#include "milter/serving/local_socket.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stream_sockets.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A server on a unix socket whose page is the target and the host that it was asked for.
class Server {
 public:
  explicit Server(HttpLimits limits = {}, HttpServer::Handlers handlers = {})
      : socket_(listen_on(path_address(folder_.file("http.sock")), AF_UNIX)) {
    if (!handlers.reply) {
      handlers.reply = [](const HttpRequest& request) {
        if (request.target == "/throws") throw std::runtime_error("no page");
        if (request.target == "/large") return HttpAnswer{.body = std::string(20'000'000, 'x')};
        return HttpAnswer{.body = std::string(request.target) + " of " + std::string(request.host)};
      };
    }
    server_.emplace(socket_.get(), std::move(handlers), limits);
  }

  FileDescriptor connect() const { return connect_to(folder_.file("http.sock")); }
  std::string answer_to(std::string_view request) const { return answer_on(connect(), request); }

  void end() { server_.reset(); }

 private:
  TemporaryFolder folder_;
  FileDescriptor socket_;
  std::optional<HttpServer> server_;
};

constexpr std::string_view kGet = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_CASE_METHOD(Server, "a page is answered with its length, not to be stored, and with no right to load anything") {
  const std::string answer = answer_to(kGet);
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n") && EndsWith("\r\n\r\n/metrics of localhost"));
  CHECK_THAT(answer, Contains("Content-Length: 21\r\n") && Contains("Cache-Control: no-store\r\n") &&
                         Contains("Connection: close\r\n") &&
                         Contains("Content-Security-Policy: default-src 'none';") &&
                         Contains("X-Content-Type-Options: nosniff\r\n"));
}

TEST_CASE_METHOD(Server, "HEAD is answered as GET is, but for the page itself") {
  const std::string answer = answer_to("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n") && Contains("Content-Length: 21\r\n") && EndsWith("\r\n\r\n"));
}

TEST_CASE_METHOD(Server, "other methods, bodies and invalid requests are refused") {
  struct Case {
    std::string_view request, want;
  };
  const Case cases[] = {
      {"POST / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 405 "},
      {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 405 "},
      {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 405 "},
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 400 "},
      {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400 "},
      {"nonsense\r\n\r\n", "HTTP/1.1 400 "},
      {"\x16\x03\x01\x02\r\n\r\n", "HTTP/1.1 400 "},  // the beginning of TLS
      {"GET /\x01 HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
  };
  for (const Case& c : cases) {
    INFO(c.request);
    CHECK_THAT(answer_to(c.request), StartsWith(std::string(c.want)));
  }
}

TEST_CASE("a page that cannot be made is status 500, and is reported") {
  std::string reported;
  HttpServer::Handlers handlers;
  handlers.reply = [](const HttpRequest&) -> HttpAnswer { throw std::runtime_error("no page"); };
  handlers.on_fault = [&reported](const std::string& what) { reported = what; };
  Server server({}, std::move(handlers));
  CHECK_THAT(server.answer_to(kGet), StartsWith("HTTP/1.1 500 "));
  server.end();
  CHECK(reported == "a page could not be made: no page");
}

TEST_CASE("a header beyond the limit is cut off, whether it ends or not") {
  const Server server({.header_bytes = 1000});
  const std::string long_header = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100'000, 'x');
  // The answer may be lost, since the server hangs up on bytes that it has not read.
  for (const std::string& request : {long_header, long_header + "\r\n\r\n", long_header.substr(0, 1200) + "\r\n\r\n"}) {
    CHECK_THAT(server.answer_to(request), StartsWith("HTTP/1.1 431 ") || Catch::Equals(""));
  }
  CHECK_THAT(server.answer_to(long_header.substr(0, 900) + "\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  CHECK_THAT(server.answer_to(kGet), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("a client that sends single bytes is cut off at the deadline") {
  const Server server({.request = 300ms});
  const Trickled slow = trickle(server.connect(), "", kGet.substr(0, 16));
  CHECK(slow.answer.empty());
  CHECK(slow.lasted >= 300ms);
}

TEST_CASE("a client that does not read its answer is cut off, and others are served meanwhile") {
  const Server server({.request = 60000ms, .answer = 300ms});
  const FileDescriptor deaf = server.connect();
  send_text(deaf, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK_THAT(server.answer_to(kGet), StartsWith("HTTP/1.1 200 "));
  // It finds that the server has hung up once it looks: it never gets all.
  pollfd waiting = {deaf.get(), POLLRDHUP, 0};
  CHECK(poll(&waiting, 1, 20000) == 1);
  CHECK(receive_all(deaf).size() < 20'000'000);
}

TEST_CASE("as many connections as the limit are served, and the next one when one of them ends") {
  const Server server({.connections = 3, .request = 200ms});
  std::vector<FileDescriptor> idle;
  for (int i = 0; i < 30; ++i) idle.push_back(server.connect());
  // All that were there before have to be cut off first, three at a time.
  CHECK_THAT(server.answer_to(kGet), StartsWith("HTTP/1.1 200 "));
  for (const FileDescriptor& each : idle) CHECK(receive_all(each).empty());
}

TEST_CASE("a connection above the limit is served when another has ended, and not before") {
  std::atomic<int> turns = 0;  // of the server, in which it would take up whom it may
  HttpServer::Handlers handlers;
  handlers.reply = [](const HttpRequest&) { return HttpAnswer{}; };
  handlers.tick = [&turns] { ++turns; };
  handlers.interval = 1ms;
  const Server server({.connections = 1, .request = 60000ms}, std::move(handlers));
  const FileDescriptor first = server.connect();
  const FileDescriptor second = server.connect();
  send_text(second, kGet);
  const Clock::time_point deadline = Clock::now() + 20s;
  while (turns < 50 && Clock::now() < deadline) std::this_thread::sleep_for(1ms);
  CHECK(turns >= 50);
  pollfd waiting = {second.get(), POLLIN, 0};
  CHECK(poll(&waiting, 1, 0) == 0);
  REQUIRE(shutdown(first.get(), SHUT_RDWR) == 0);
  CHECK_THAT(receive_all(second), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE_METHOD(Server, "the server continues after clients that vanish at each step") {
  for (std::size_t length = 0; length <= kGet.size(); ++length) {
    const FileDescriptor client = connect();
    send_text(client, kGet.substr(0, length));
  }
  for (int i = 0; i < 5; ++i) send_text(connect(), "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK_THAT(answer_to(kGet), StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("the server ends at once, also with clients connected") {
  Server server({.request = 60000ms, .answer = 60000ms});
  const FileDescriptor idle = server.connect();
  const FileDescriptor deaf = server.connect();
  send_text(deaf, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK_THAT(server.answer_to(kGet), StartsWith("HTTP/1.1 200 "));
  const Clock::time_point start = Clock::now();
  server.end();
  CHECK(Clock::now() - start < 20s);
  CHECK(receive_all(idle).empty());
}

TEST_CASE("the server calls its owner each time the interval is over") {
  std::atomic<int> calls = 0;
  HttpServer::Handlers handlers;
  handlers.reply = [](const HttpRequest&) { return HttpAnswer{}; };
  handlers.tick = [&calls] { ++calls; };
  handlers.interval = 5ms;
  const Server server({}, std::move(handlers));
  const Clock::time_point deadline = Clock::now() + 20s;
  while (calls < 3 && Clock::now() < deadline) std::this_thread::sleep_for(1ms);
  CHECK(calls >= 3);
}

TEST_CASE_METHOD(InFolder, "only addresses of this machine are local") {
  CHECK(is_local_socket(listen_on(path_address(folder.file("s")), AF_UNIX).get()));
  const auto is_local = [](const char* host) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;  // and any port
    REQUIRE(inet_pton(AF_INET, host, &address.sin_addr) == 1);
    return is_local_socket(listen_on(address, AF_INET).get());
  };
  CHECK(is_local("127.0.0.1"));
  CHECK(is_local("127.1.2.3"));
  CHECK_FALSE(is_local("0.0.0.0"));
  CHECK_FALSE(is_local("192.0.2.1"));
  CHECK_FALSE(is_local("126.255.255.255"));
  CHECK_FALSE(is_local("128.0.0.1"));
  CHECK_FALSE(is_local_socket(-1));
  for (const auto& [host, want] : {std::pair(in6addr_loopback, true), std::pair(in6addr_any, false)}) {
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_addr = host;
    const FileDescriptor bound(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // Not every machine has IPv6.
    if (bind(bound.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;
    CHECK(is_local_socket(bound.get()) == want);
  }
}

TEST_CASE("a request is for this machine if its host is a number or localhost") {
  for (const char* const host :
       {"", "localhost", "LocalHost:9812", "127.0.0.1", "127.0.0.1:9812", "[::1]:9812", "[::1]", "192.0.2.1:80"}) {
    INFO(host);
    CHECK(names_this_machine(host));
  }
  for (const char* const host : {"attacker.example", "attacker.example:9812", "localhost.attacker.example", "localhos",
                                 "127.0.0.1.attacker.example", "[attacker.example]", "[::1", "x:127.0.0.1"}) {
    INFO(host);
    CHECK_FALSE(names_this_machine(host));
  }
}

}  // namespace
}  // namespace bloomgate::test
