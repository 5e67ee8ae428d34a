// Reloads under concurrent sessions; run with ThreadSanitizer by the preset tsan.
#include <atomic>
#include <thread>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/milter/glue/fake_libmilter.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

constexpr int kThreads = 4;
constexpr int kMessagesEach = 3000;
constexpr int kSwaps = 50;

struct Tally {
  int delivered = 0;
  int checked = 0;
  int undecided = 0;
};

// Sends messages from a sender who is on every whitelist, from one who is on none, and from one who is on some.
// Goes on until there were enough of them and enough swaps.
Tally send_messages(const std::atomic<int>& swaps) {
  Tally tally;
  FakeMailServer server;
  server.negotiate();
  for (int i = 0; i < kMessagesEach || swaps < kSwaps; ++i) {
    const char* const senders[] = {"<joe@example.org>", "<nobody@example.net>", "<sometimes@example.org>"};
    server.mail(senders[i % 3]);
    server.header("X-Bloomgate");
    const bool answered = server.end_of_message() == SMFIS_CONTINUE && server.edits().size() == 2;
    const std::string decision = answered ? server.edits().back() : "";
    const bool delivered = decision.find("insert 0 deliver; reason=listed;") == 0;
    const bool checked = decision.find("insert 0 check; reason=not-listed;") == 0;
    tally.delivered += delivered ? 1 : 0;
    tally.checked += checked ? 1 : 0;
    const bool wrong = (i % 3 == 0 && !delivered) || (i % 3 == 1 && !checked) || (!delivered && !checked);
    tally.undecided += wrong ? 1 : 0;
  }
  return tally;
}

TEST_CASE_METHOD(Parts, "while whitelists are swapped under thousands of messages each is decided by one of them") {
  log.logger()->set_level(spdlog::level::warn);
  const WhitelistFile one({"joe@example.org"});
  const WhitelistFile other({"joe@example.org", "sometimes@example.org"});
  slot.set(one.load_alone());

  std::atomic<int> running{kThreads};
  Tally tallies[kThreads];
  std::atomic<int> swaps{0};
  {
    std::vector<std::jthread> sessions;
    for (Tally& tally : tallies) {
      sessions.emplace_back([&] {
        tally = send_messages(swaps);
        --running;
      });
    }
    while (running > 0) slot.set(++swaps % 2 == 0 ? one.load_alone() : other.load_alone());
  }

  Tally sum;
  for (const Tally& tally : tallies) {
    sum.delivered += tally.delivered;
    sum.checked += tally.checked;
    sum.undecided += tally.undecided;
  }
  CHECK(swaps >= kSwaps);
  CHECK(sum.undecided == 0);
  CHECK(sum.delivered + sum.checked >= kThreads * kMessagesEach);
  CHECK(sum.delivered >= kThreads * kMessagesEach / 3);
  CHECK(in_progress.wait_for_none(std::chrono::milliseconds(0)) == 0);
}

TEST_CASE_METHOD(
    Parts, "while the whitelist is truncated under concurrent messages none is delivered after the damage was met") {
  log.logger()->set_level(spdlog::level::warn);
  std::atomic<int> delivered_after{0};
  std::atomic<int> damaged{0};
  {
    std::vector<std::jthread> sessions;
    for (int i = 0; i < kThreads; ++i) {
      sessions.emplace_back([&] {
        FakeMailServer server;
        bool met = false;
        for (int message = 0; message < kMessagesEach || !met; ++message) {
          server.mail("<joe@example.org>");
          server.end_of_message();
          const bool delivered = server.edits().back().find("deliver") != std::string::npos;
          if (met && delivered) ++delivered_after;
          met = met || !delivered;
        }
        ++damaged;
      });
    }
    whitelist.truncate();
  }
  CHECK(damaged == kThreads);
  CHECK(delivered_after == 0);
  CHECK(damage_reports == 1);
}

}  // namespace
}  // namespace bloomgate::test
