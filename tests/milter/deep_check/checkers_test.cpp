#include "milter/deep_check/checkers.hpp"

#include <atomic>
#include <thread>

#include "tests/milter/deep_check/loopback_server.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A port where nobody listens: that of a server that is gone.
DeepCheckServer nobody() {
  return LoopbackServer(hangs()).rspamd();
}

DeepCheckOptions options(std::vector<DeepCheckServer> servers, std::chrono::milliseconds timeout = 60s) {
  DeepCheckOptions options;
  options.servers = std::move(servers);
  options.timeout = timeout;
  return options;
}

const MessageText& small_message() {
  static const MessageText message = [] {
    MessageText text({.max_bytes = 1000, .memory_bytes = 1000, .folder = "/nowhere"});
    text.add_field("Subject", " test");
    text.end_of_header();
    return text;
  }();
  return message;
}

std::string error_of(Checkers& check) {
  try {
    check.ask({}, small_message());
  } catch (const DeepCheckError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("the first server that answers decides, and earlier failures are reported") {
  LoopbackServer spamd(answers(spamd_says(true, 9.5)));
  LoopbackServer last(answers(rspamd_says("no action", 0)));
  Checkers check(options({nobody(), spamd.spamd(), last.rspamd()}));
  const DeepResult result = check.ask({}, small_message());
  CHECK(result.server == to_string(spamd.spamd()));
  CHECK(result.verdict == DeepVerdict::spam);
  CHECK(result.score == 9.5);
  REQUIRE(result.failures.size() == 1);
  CHECK_THAT(result.failures.front(), Contains("rspamd:http://127.0.0.1:") && Contains("refused"));
  CHECK(last.connections() == 0);
}

TEST_CASE_METHOD(InFolder,
                 "after a server that took the message and did not answer, the next server gets the whole message") {
  MessageText message({.max_bytes = 10'000'000, .memory_bytes = 1000, .folder = folder.path()});
  std::string text = "Subject: test\r\n\r\n";
  while (text.size() < 300'000) text += std::to_string(text.size()) + "\r\n";
  message.add_body(text);
  std::string requests[4];
  const auto takes = [&requests](int which, std::string reply) {
    return [&requests, which, reply = std::move(reply)](LoopbackServer::Client& client) {
      requests[which] = client.request();
      client.send(reply);
    };
  };
  {  // The servers' threads end with them, and what they have read is there to be looked at.
    LoopbackServer first(takes(0, ""));
    LoopbackServer second(takes(1, "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n"));
    LoopbackServer third(takes(2, ""));
    LoopbackServer last(takes(3, rspamd_says("reject", 20)));
    Checkers check(options({first.rspamd(), second.rspamd(), third.spamd(), last.rspamd()}));
    const DeepResult result = check.ask({}, message);
    CHECK(result.verdict == DeepVerdict::reject);
    CHECK(result.failures.size() == 3);
  }
  for (const std::string& request : requests) CHECK(request.ends_with("\r\n" + text));
}

TEST_CASE("a failed server is not asked for a while") {
  LoopbackServer bad(answers("nonsense\r\n"));
  LoopbackServer good(answers(rspamd_says("reject", 20)));
  Checkers check(options({bad.spamd(), good.rspamd()}));
  for (int i = 0; i < 3; ++i) CHECK(check.ask({}, small_message()).verdict == DeepVerdict::reject);
  CHECK(bad.connections() == 1);
  CHECK(good.connections() == 3);
}

TEST_CASE("a server that hangs leaves time for the next one") {
  LoopbackServer bad(hangs());
  LoopbackServer good(answers(rspamd_says("add header", 7)));
  Checkers check(options({bad.spamd(), good.rspamd()}, 2s));
  CHECK(check.ask({}, small_message()).server == to_string(good.rspamd()));
}

TEST_CASE("servers that hang take together at most the message's time") {
  LoopbackServer first(hangs());
  LoopbackServer second(hangs());
  LoopbackServer third(hangs());
  constexpr auto kTime = 1200ms;
  Checkers check(options({first.spamd(), second.rspamd(), third.spamd()}, kTime));
  const auto start = Clock::now();
  CHECK_THAT(error_of(check), Contains("no answer in time; ") && EndsWith("no answer in time"));
  CHECK(Clock::now() - start >= kTime - 5ms);
  CHECK(third.connections() == 1);
}

TEST_CASE("the time for a message is the configured one") {
  LoopbackServer silent(hangs());
  constexpr auto kTime = 3s;
  Checkers check(options({silent.spamd()}, kTime));
  const auto start = Clock::now();
  CHECK_THAT(error_of(check), EndsWith("no answer in time"));
  CHECK(Clock::now() - start < 2 * kTime);
}

TEST_CASE("a server that answers again is asked first again, however it failed before") {
  std::atomic<bool> well = false;
  LoopbackServer first([&](LoopbackServer::Client& client) {
    client.request();
    client.send(well ? spamd_says(true, 9) : "nonsense\r\n");
  });
  LoopbackServer second(answers("nonsense\r\n"));
  Checkers check(options({first.spamd(), second.spamd()}));
  CHECK_THAT(error_of(check), Contains("not spamd's"));
  well = true;
  CHECK(check.ask({}, small_message()).failures.empty());
  CHECK(check.ask({}, small_message()).failures.empty());
  CHECK(second.connections() == 1);
}

TEST_CASE("if no server answers, the error says what was wrong with each, on one printable line") {
  LoopbackServer refuses(answers("SPAMD/1.0 76 No\x1b[31m\xff\r\n\r\n"));
  LoopbackServer empty([](LoopbackServer::Client&) {});
  Checkers check(options({nobody(), refuses.spamd(), empty.rspamd()}));
  const std::string error = error_of(check);
  CHECK_THAT(error, Contains("refused; ") && Contains("it refuses: SPAMD/1.0 76 No\\x1b[31m\\xff; ") &&
                        Contains(to_string(empty.rspamd()) + ": "));
  CHECK(error.find('\n') == std::string::npos);
}

// Each is one way to fail, and what is said of it: as rspamd, as spamd.
struct Fault {
  const char* name;
  LoopbackServer::Answer answer;
  const char* of_rspamd;
  const char* of_spamd;
  std::chrono::milliseconds timeout = 60s;  // short where nothing but the time ends it
};

LoopbackServer::Answer sends_for_ever(std::string first, std::string_view more, bool reads_request = true) {
  return [=, piece = std::string(more)](LoopbackServer::Client& client) {
    if (reads_request) client.request();
    client.send(first);
    while (!client.stopped() && client.send(piece)) {
    }
  };
}

const std::string kZeros(10'000, '0');

TEST_CASE("a server that does anything but answer is an error within the time") {
  const Fault faults[] = {
      {"never answers", hangs(), "no answer in time", "no answer in time", 300ms},
      {"reads and never answers",
       [](LoopbackServer::Client& client) {
         client.request();
         client.hang();
       },
       "no answer in time", "no answer in time", 300ms},
      {"closes at once", [](LoopbackServer::Client&) {}, "", ""},
      {"reads and closes", answers(""), "Empty reply", "without an answer"},
      {"closes in the middle", answers("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"score\""), "with 42 bytes ",
       "not spamd's"},
      {"closes in the middle of spamd's",
       answers("SPAMD/1.1 0 EX_OK\r\nContent-length: 50\r\nSpam: True ; 9 / 5\r\n\r\nA"), "", "breaks off"},
      {"answers nonsense", answers("\x01\x02\x03 nonsense\r\n\r\n"), "", "not spamd's"},
      {"answers another protocol's nonsense", answers(http_reply("nonsense")), "not JSON", "not spamd's"},
      {"says that it is ill", answers(http_reply("too busy", 503)), "it answers 503: too busy", "not spamd's"},
      {"redirects", answers("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
       "it answers 302", "not spamd's"},
      {"answers without end", sends_for_ever("HTTP/1.1 200 OK\r\n\r\n", kZeros), "body of its answer is longer than",
       "longer than"},
      {"has a header without end", sends_for_ever("HTTP/1.1 200 OK\r\n", "X-Fill: " + kZeros + "\r\n"),
       "header of its answer is longer than", "longer than"},
      {"has a line without end", sends_for_ever("HTTP/1.1 200 OK\r\nX-Fill: ", kZeros), "", "longer than"},
      {"announces more than there may be", answers("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + kZeros),
       "with 99999989999 bytes ", "not spamd's"},
      {"answers in drops",
       [](LoopbackServer::Client& client) {
         client.request();
         client.send("HTTP/1.1 200 OK\r\n\r\n");
         while (!client.stopped() && client.send("0")) std::this_thread::sleep_for(5ms);
       },
       "no answer in time", "no answer in time", 300ms},
  };
  for (const Fault& fault : faults) {
    INFO(fault.name);
    LoopbackServer server(fault.answer);
    for (const DeepCheckServer& asked : {server.rspamd(), server.spamd()}) {
      const bool is_rspamd = asked.kind == DeepCheckServer::Kind::rspamd;
      CAPTURE(is_rspamd);
      Checkers check(options({asked}, fault.timeout));
      const auto start = Clock::now();
      CHECK_THAT(error_of(check), StartsWith("no deeper check has answered: " + to_string(asked) + ": ") &&
                                      Contains(is_rspamd ? fault.of_rspamd : fault.of_spamd));
      CHECK(Clock::now() - start < 30s);
    }
  }
}

TEST_CASE_METHOD(InFolder, "a server that stops reading a large message is given up in time") {
  MessageText message({.max_bytes = 50'000'000, .memory_bytes = 1000, .folder = folder.path()});
  for (int i = 0; i < 50; ++i) message.add_body(std::string(1'000'000, 'x'));
  LoopbackServer server(hangs());
  for (const DeepCheckServer& asked : {server.rspamd(), server.spamd()}) {
    Checkers check(options({asked}, 300ms));
    const auto start = Clock::now();
    CHECK_THROWS_AS(check.ask({}, message), DeepCheckError);
    CHECK(Clock::now() - start < 30s);
  }
}

TEST_CASE("as many messages are checked at a time as there are connections, and the others wait") {
  std::atomic<int> at_work = 0;
  std::atomic<int> most = 0;
  LoopbackServer server([&](LoopbackServer::Client& client) {
    client.request();
    const int now = ++at_work;
    for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
    while (most < 2 && !client.stopped()) std::this_thread::yield();
    --at_work;
    client.send(rspamd_says("no action", 1));
  });
  DeepCheckOptions two = options({server.rspamd()});
  two.connections = 2;
  Checkers check(two);
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (error_of(check) == "no error") ++answered;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(answered == 8);
  CHECK(most == 2);
}

TEST_CASE("waiting for a free connection ends with the time for the message") {
  LoopbackServer server(answers(rspamd_says("no action", 1)));
  DeepCheckOptions none = options({server.rspamd()}, 100ms);
  none.connections = 0;
  Checkers check(none);
  CHECK(error_of(check) == "all connections to the deeper check (0) were taken for 0.1 s");
  CHECK(server.connections() == 0);
}

}  // namespace
}  // namespace bloomgate::test
