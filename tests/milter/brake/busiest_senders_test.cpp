#include "milter/brake/busiest_senders.hpp"

#include <set>
#include <string>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

constexpr HalfHours kNow = 2950 * kHalfHoursOfWeek;
constexpr std::size_t kSmall = BusiestSenders::kShards * BusiestSenders::kGroup;
constexpr SenderCounts::Rules kRules = {.is_observing = true};

KeyHash key_of(std::uint64_t number) {
  return hash_key(std::to_string(number), 3);
}

void send(BusiestSenders& senders, std::uint64_t sender, int messages, HalfHours now = kNow) {
  for (int i = 0; i < messages; ++i) {
    senders.visit(key_of(sender), now, [now](SenderCounts& counts) { return counts.count(now, {}, kRules); });
  }
}

bool is_over(const BusiestSenders& senders, std::uint64_t sender) {
  return senders.visit_known(key_of(sender), [](const SenderCounts& counts) { return counts.is_over(kNow, kRules); });
}

TEST_CASE("each sender is found with what it has sent, among many", "[no threads]") {
  BusiestSenders senders;
  constexpr std::uint64_t kSenders = test::kIsSanitized ? 5'000 : 50'000;
  for (std::uint64_t sender = 0; sender < kSenders; ++sender) send(senders, sender, sender % 1000 == 0 ? 61 : 1);
  CHECK(senders.size() == kSenders);
  for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
    if (is_over(senders, sender) != (sender % 1000 == 0)) FAIL("sender " << sender);
  }
  CHECK_FALSE(is_over(senders, kSenders));
  std::set<KeyHash> keys;
  senders.for_each([&](const SenderCounts& each) { keys.insert(each.key()); });
  CHECK(keys.size() == kSenders);
}

TEST_CASE("few senders take little memory, and any number at most 256 MiB", "[no threads]") {
  BusiestSenders few;
  for (std::uint64_t sender = 0; sender < 1000; ++sender) send(few, sender, 1);
  CHECK(few.memory_bytes() < std::size_t{2} << 20);
  if (test::kIsSanitized) return;
  BusiestSenders many;
  for (std::uint64_t sender = 0; sender < 1'100'000; ++sender) send(many, sender, 1);
  CHECK(many.memory_bytes() <= std::size_t{256} << 20);
  CHECK(many.size() >= 900'000);
}

TEST_CASE("without room, a new sender replaces the lightest one, and its counts are never too low", "[no threads]") {
  BusiestSenders senders(kSmall);
  send(senders, 0, 200);  // heavy
  for (std::uint64_t sender = 1; sender < 20 * kSmall; ++sender) send(senders, sender, 1);
  CHECK(senders.size() == kSmall);
  CHECK(is_over(senders, 0));
  send(senders, 777, 61);
  CHECK(is_over(senders, 777));
}

TEST_CASE("a sender with much mail each week is not replaced by the many who send a little today", "[no threads]") {
  BusiestSenders senders(kSmall);
  send(senders, 0, 5000);
  const HalfHours later = kNow + kHalfHoursOfWeek;
  for (std::uint64_t sender = 1; sender < 20 * kSmall; ++sender) send(senders, sender, 1, later);
  CHECK(senders.visit_known(key_of(0), [](const SenderCounts& counts) { return counts.last(); }) == kNow);
}

TEST_CASE("threads count the same senders at once, and lose nothing") {
  BusiestSenders senders(kSmall);
  constexpr int kThreads = 4, kRounds = 15, kSenders = 300;
  test::at_once(kThreads, [&](int) {
    for (int round = 0; round < kRounds; ++round) {
      for (std::uint64_t sender = 0; sender < kSenders; ++sender) send(senders, sender, 1);
      (void)senders.size();
    }
  });
  for (std::uint64_t sender = 0; sender < kSenders; ++sender) {
    CHECK_FALSE(is_over(senders, sender));
    send(senders, sender, 1);
    CHECK(is_over(senders, sender));
  }
}

}  // namespace
}  // namespace bloomgate
