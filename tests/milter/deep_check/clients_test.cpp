// What the clients send, seen by a server. That the real servers take it is seen in tests/e2e.
#include <unistd.h>

#include <filesystem>

#include "milter/deep_check/checkers.hpp"
#include "milter/deep_check/http_exchange.hpp"
#include "milter/deep_check/plain_connection.hpp"
#include "milter/deep_check/rspamd_client.hpp"
#include "milter/deep_check/spamd_client.hpp"
#include "tests/milter/deep_check/loopback_server.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return std::chrono::steady_clock::now() + 60s;
}

// Answers everything with `reply`, and keeps the last request.
LoopbackServer::Answer keeps_request(std::string& request, std::string reply) {
  return [&request, reply = std::move(reply)](LoopbackServer::Client& client) {
    request = client.request();
    client.send(reply);
  };
}

// Answers before the client has sent all.
LoopbackServer::Answer answers_early(std::string reply) {
  return [reply = std::move(reply)](LoopbackServer::Client& client) {
    client.await_bytes();
    client.send(reply);
  };
}

// Answers when the client sends no more, and keeps what it has sent.
LoopbackServer::Answer answers_at_the_end(std::string& received, std::string reply) {
  return [&received, reply = std::move(reply)](LoopbackServer::Client& client) {
    received = client.rest();
    client.send(reply);
  };
}

Envelope usual() {
  return {.queue_id = "4ABC12",
          .sender = "joe@example.org",
          .recipients = {"ann@example.net", "bob@example.net"},
          .client_address = "192.0.2.7",
          .client_name = "mail.example.org",
          .helo = "helo.example.org",
          .login = "joe",
          .mta_name = "mx.example.net"};
}

const std::string kText = "Subject: test\r\n\r\nHello\r\n";

MessageText message_of(const std::string& text) {
  MessageText message({.max_bytes = 100'000'000, .memory_bytes = 100'000, .folder = "/tmp"});
  message.add_body(text);
  return message;
}

TEST_CASE("rspamd gets the envelope in fields of the request, and the message unchanged") {
  std::string request;
  LoopbackServer server(keeps_request(request, rspamd_says("add header", 7)));
  const DeepResult result = ask_rspamd(server.rspamd(), usual(), message_of(kText), soon());
  CHECK(result.verdict == DeepVerdict::spam);
  CHECK_THAT(request, StartsWith("POST /checkv2 HTTP/1.1\r\n") && EndsWith("\r\n\r\n" + kText));
  for (const char* const field :
       {"Queue-Id: 4ABC12", "From: <joe@example.org>", "Rcpt: <ann@example.net>", "Rcpt: <bob@example.net>",
        "IP: 192.0.2.7", "Hostname: mail.example.org", "Helo: helo.example.org", "User: joe",
        "MTA-Name: mx.example.net", "Content-Length: 24"}) {
    CHECK_THAT(request, Contains("\r\n" + std::string(field) + "\r\n"));
  }
  CHECK_THAT(request, !Contains("Expect") && !Contains("Content-Type"));
}

TEST_CASE("the envelope cannot break out of a field of the request, and unknown values are omitted") {
  std::string request;
  LoopbackServer server(keeps_request(request, rspamd_says("no action", 0)));
  Envelope envelope = usual();
  envelope.helo = "x\r\nIP: 127.0.0.1\r\n\r\n";
  envelope.sender = "a>\nb";
  envelope.login = std::string("j\0oe", 4);
  envelope.client_name = "unknown";
  envelope.queue_id.clear();
  ask_rspamd(server.rspamd(), envelope, message_of(kText), soon());
  CHECK_THAT(request, Contains("\r\nHelo: x??IP: 127.0.0.1????\r\n") && Contains("\r\nFrom: <a??b>\r\n") &&
                          Contains("\r\nUser: j?oe\r\n") && !Contains("Hostname") && !Contains("Queue-Id"));
  envelope.sender.clear();
  ask_rspamd(server.rspamd(), envelope, message_of(kText), soon());
  CHECK_THAT(request, Contains("\r\nFrom: <>\r\n"));
}

TEST_CASE("a path in the URL of rspamd is kept") {
  std::string request;
  LoopbackServer server(keeps_request(request, rspamd_says("no action", 0)));
  DeepCheckServer asked = server.rspamd();
  asked.url += "/rspamd/";
  ask_rspamd(asked, usual(), message_of(kText), soon());
  CHECK_THAT(request, StartsWith("POST /rspamd/checkv2 HTTP/1.1\r\n"));
}

TEST_CASE("spamd gets the envelope in fields before the message") {
  std::string request;
  LoopbackServer server(keeps_request(request, spamd_says(false, 1)));
  CHECK(ask_spamd(server.spamd(), usual(), message_of(kText), soon()).verdict == DeepVerdict::ham);
  const std::size_t header_end = request.find("\r\n\r\n") + 4;
  const std::string body = request.substr(header_end);
  CHECK(request.substr(0, header_end) ==
        "SYMBOLS SPAMC/1.5\r\nContent-length: " + std::to_string(body.size()) + "\r\n\r\n");
  CHECK_THAT(body, StartsWith("Return-Path: <joe@example.org>\r\nReceived: from helo.example.org (") &&
                       EndsWith("\r\n" + kText));
}

TEST_CASE_METHOD(InFolder, "a large message comes whole, from memory and file, by port and by unix socket") {
  std::string large = kText;
  while (large.size() < 5'000'000) large += std::to_string(large.size()) + "\r\n";
  const MessageText message = message_of(large);
  std::string request;
  LoopbackServer by_port(keeps_request(request, rspamd_says("no action", 0)));
  LoopbackServer by_path(keeps_request(request, rspamd_says("no action", 0)), folder.file("rspamd"));
  for (const LoopbackServer* const server : {&by_port, &by_path}) {
    ask_rspamd(server->rspamd(), usual(), message, soon());
    CHECK(request.ends_with("\r\n\r\n" + large));
  }
  LoopbackServer spamd_by_port(keeps_request(request, spamd_says(true, 9)));
  LoopbackServer spamd_by_path(keeps_request(request, spamd_says(true, 9)), folder.file("spamd"));
  for (const LoopbackServer* const server : {&spamd_by_port, &spamd_by_path}) {
    ask_spamd(server->spamd(), usual(), message, soon());
    CHECK(request.ends_with("\r\n" + large));
  }
}

TEST_CASE("a refusal that arrives before the whole message is sent is read") {
  std::string large(5'000'000, 'x');
  const LoopbackServer server([](LoopbackServer::Client& client) { client.send("SPAMD/1.0 76 Too large\r\n\r\n"); });
  const auto error = error_of<CheckerError>([&] { ask_spamd(server.spamd(), usual(), message_of(large), soon()); });
  // The kernel may throw away what was received when the connection is reset.
  CHECK_THAT(error.what(), Contains("76 Too large") || Contains("reset"));
}

TEST_CASE_METHOD(InFolder, "if spamd answers and closes while the message is being sent, its answer counts") {
  const std::string large(5'000'000, 'x');
  // To a client that has not seen yet that it is connected, a server that has closed already would be one that it could
  // not reach.
  // What a unix socket has received stays there when the other end closes it.
  const LoopbackServer server(answers_early("SPAMD/1.0 76 Too large\r\n\r\n"), folder.file("spamd"));
  CHECK_THROWS_WITH(ask_spamd(server.spamd(), usual(), message_of(large), soon()), Contains("76 Too large"));
  const LoopbackServer hasty(answers_early(spamd_says(true, 9)), folder.file("hasty"));
  CHECK(ask_spamd(hasty.spamd(), usual(), message_of(large), soon()).score == 9);
}

TEST_CASE_METHOD(
    InFolder,
    "a message that one send cannot take is sent piece by piece, and the caller sees whether the server takes it") {
  std::string large(20'000'000, 'x');
  for (std::size_t at = 0; at < large.size(); at += 1000) large.replace(at, 8, std::to_string(10'000'000 + at));
  std::string received;
  const LoopbackServer server(answers_at_the_end(received, "taken"));
  PlainConnection connection(server.spamd().address, soon());
  CHECK(connection.send(large));
  CHECK(connection.receive_all(100) == "taken");
  CHECK(received == large);

  const LoopbackServer refusing(answers_early("refused"), folder.file("spamd"));
  PlainConnection refused(refusing.spamd().address, soon());
  CHECK_FALSE(refused.send(large));
  CHECK(refused.receive_all(100) == "refused");
}

TEST_CASE("a server that reads nothing is abandoned in time, and one that resets the connection has not answered") {
  const std::string large(20'000'000, 'x');
  const LoopbackServer silent(hangs());
  CHECK_THROWS_WITH(ask_spamd(silent.spamd(), usual(), message_of(large), std::chrono::steady_clock::now() + 200ms),
                    "no answer in time");
  // What it has not read, it throws away with the connection.
  const LoopbackServer resetting([](LoopbackServer::Client& client) { client.await_bytes(); });
  PlainConnection connection(resetting.spamd().address, soon());
  connection.send("x");
  CHECK_THROWS_WITH(connection.receive_all(100), Contains("reset"));
}

// Takes away what the process has in files without a name in that folder.
void empty_unnamed_files(const TemporaryFolder& folder) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(each.path(), error).string();
    if (!error && target.starts_with(folder.path().string())) {
      REQUIRE(ftruncate(std::stoi(each.path().filename().string()), 0) == 0);
    }
  }
}

TEST_CASE_METHOD(InFolder, "a message that cannot be read back is not reported as a failure of the server") {
  MessageText message({.max_bytes = 1'000'000, .memory_bytes = 10, .folder = folder.path()});
  message.add_body(std::string(500'000, 'x'));
  empty_unnamed_files(folder);
  std::string received;
  const LoopbackServer rspamd(answers_at_the_end(received, rspamd_says("no action", 0)));
  CHECK_THROWS_AS(ask_rspamd(rspamd.rspamd(), usual(), message, soon()), MessageTextError);
  const LoopbackServer spamd(answers_at_the_end(received, spamd_says(false, 0)));
  CHECK_THROWS_AS(ask_spamd(spamd.spamd(), usual(), message, soon()), MessageTextError);
}

TEST_CASE("spamd sees the end of the message, also a spamd that reads until then") {
  std::string request;
  const LoopbackServer server(answers_at_the_end(request, spamd_says(true, 9)));
  const Deadline deadline = std::chrono::steady_clock::now() + 10s;
  CHECK(ask_spamd(server.spamd(), usual(), message_of(kText), deadline).score == 9);
  CHECK(request.ends_with("\r\n" + kText));
  CHECK(reach(server.spamd(), 10s) != "no answer in time");
}

TEST_CASE("an answer may be as long as the bound, and not a byte longer") {
  const auto rspamd_takes = [](std::size_t header_bytes, std::size_t body_bytes) {
    std::string body = R"({"score":3,"action":"no action"})";
    body.resize(body_bytes, ' ');
    std::string header = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body_bytes) + "\r\nX-Fill: ";
    header.append(header_bytes - header.size() - 4, 'x').append("\r\n\r\n");
    const LoopbackServer server(answers(header + body));
    return ask_rspamd(server.rspamd(), usual(), message_of(kText), soon()).score == 3;
  };
  CHECK(rspamd_takes(100, kMaxHttpReplyBytes));
  CHECK_THROWS_WITH(rspamd_takes(100, kMaxHttpReplyBytes + 1), Contains("body of its answer is longer than"));
  CHECK(rspamd_takes(kMaxHttpHeaderBytes, 100));
  CHECK_THROWS_WITH(rspamd_takes(kMaxHttpHeaderBytes + 1, 100), Contains("header of its answer is longer than"));

  const auto spamd_takes = [](std::size_t bytes) {
    std::string reply = "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 9 / 5.0\r\n\r\nA";
    reply.resize(bytes, ' ');
    const LoopbackServer server(answers(reply));
    return ask_spamd(server.spamd(), usual(), message_of(kText), soon()).score == 9;
  };
  CHECK(spamd_takes(kMaxSpamdReplyBytes));
  CHECK_THROWS_WITH(spamd_takes(kMaxSpamdReplyBytes + 1), Contains("longer than"));
}

TEST_CASE("an answer that arrives in pieces is joined") {
  const auto in_pieces = [](std::string reply) {
    return [reply = std::move(reply)](LoopbackServer::Client& client) {
      client.request();
      for (const char byte : reply) client.send({&byte, 1});
    };
  };
  const LoopbackServer rspamd(in_pieces(rspamd_says("add header", 7)));
  CHECK(ask_rspamd(rspamd.rspamd(), usual(), message_of(kText), soon()).score == 7);
  const LoopbackServer spamd(in_pieces(spamd_says(true, 9)));
  CHECK(ask_spamd(spamd.spamd(), usual(), message_of(kText), soon()).symbols.size() == 3);
}

TEST_CASE("a server that is asked over IPv6 answers") {
  if (!LoopbackServer::has_ipv6()) {
    WARN("this machine has no IPv6");
    return;
  }
  const LoopbackServer rspamd(answers(rspamd_says("no action", 3)), LoopbackServer::OverIpv6());
  CHECK(ask_rspamd(rspamd.rspamd(), usual(), message_of(kText), soon()).score == 3);
  const LoopbackServer spamd(answers(spamd_says(true, 9)), LoopbackServer::OverIpv6());
  CHECK(ask_spamd(spamd.spamd(), usual(), message_of(kText), soon()).score == 9);
}

TEST_CASE("a server's name is looked up in the requested address family") {
  const LoopbackServer server(answers(spamd_says(true, 9)));
  DeepCheckServer asked = server.spamd();
  asked.address.host = "localhost";
  CHECK(ask_spamd(asked, usual(), message_of(kText), soon()).score == 9);
  asked.address.family = SocketAddress::Family::inet6;
  CHECK_THROWS_AS(ask_spamd(asked, usual(), message_of(kText), soon()), CheckerError);
}

TEST_CASE("only one line of a server's refusal is reported, and a pong with an error status does not count") {
  const LoopbackServer ill(answers(http_reply(std::string(10'000, 'x'), 503)));
  const auto error = error_of<CheckerError>([&] { ask_rspamd(ill.rspamd(), usual(), message_of(kText), soon()); });
  CHECK_THAT(error.what(), StartsWith("it answers 503: xxx"));
  CHECK(std::string_view(error.what()).size() < 300);
  const LoopbackServer half(answers(http_reply("pong\r\n", 500)));
  CHECK(reach(half.rspamd(), 60s) == "it answers 500: pong\\x0d\\x0a");
  const LoopbackServer other(answers(http_reply("hello")));
  CHECK(reach(other.rspamd(), 60s) == "it answers 200: hello");
}

TEST_CASE("rspamd gets as many of very many recipients as fit into 16 KiB, and the whole message") {
  std::string request;
  LoopbackServer server(keeps_request(request, rspamd_says("no action", 0)));
  Envelope envelope = usual();
  const auto told = [&](std::size_t bytes_each) {
    envelope.recipients.assign(10'000, std::string(bytes_each - 2, 'r'));
    ask_rspamd(server.rspamd(), envelope, message_of(kText), soon());
    CHECK(request.size() < 40'000);
    CHECK_THAT(request, EndsWith("\r\n\r\n" + kText));
    std::size_t count = 0;
    for (std::size_t at = request.find("\r\nRcpt: "); at != std::string::npos;
         at = request.find("\r\nRcpt: ", at + 1)) {
      ++count;
    }
    return count;
  };
  CHECK(told(32) == 16384 / 32);
  CHECK(told(33) == 16384 / 33);
}

TEST_CASE("a proxy in the environment is not used") {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  LoopbackServer server(answers(rspamd_says("no action", 3)));
  CHECK(ask_rspamd(server.rspamd(), usual(), message_of(kText), soon()).score == 3);
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
}

TEST_CASE("whether a server answers at all can be asked without a message") {
  LoopbackServer rspamd(answers(http_reply("pong\r\n")));
  LoopbackServer spamd(answers("SPAMD/1.5 0 PONG\r\n"));
  LoopbackServer silent(hangs());
  CHECK(reach(rspamd.rspamd(), 60s).empty());
  CHECK(reach(spamd.spamd(), 60s).empty());
  std::string request;
  LoopbackServer asked(keeps_request(request, "SPAMD/1.5 0 PONG\r\n"));
  CHECK(reach(asked.spamd(), 60s).empty());
  CHECK(request == "PING SPAMC/1.5\r\n\r\n");
  CHECK_THAT(reach(spamd.rspamd(), 60s), Contains("HTTP/0.9"));
  CHECK_THAT(reach(rspamd.spamd(), 60s), Contains("not spamd's: HTTP/1.1 200"));
  CHECK(reach(silent.rspamd(), 100ms) == "no answer in time");
  CHECK(reach(silent.spamd(), 100ms) == "no answer in time");
  const SocketAddress nowhere{SocketAddress::Family::unix_path, "/nowhere/socket", {}, {}};
  for (const auto kind : {DeepCheckServer::Kind::rspamd, DeepCheckServer::Kind::spamd})
    CHECK(reach({kind, {}, nowhere}, 60s) == "it cannot be reached: No such file or directory");
}

}  // namespace
}  // namespace bloomgate::test
