#include "milter/brake/sender_counts.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr HalfHours kWeek = kHalfHoursOfWeek;
// A Thursday in 2026.
constexpr HalfHours kStart = 2950 * kWeek;
constexpr SenderCounts::Rules kRules = {.floor = {.messages = 60, .recipients = 30}};
constexpr SenderCounts::Rules kObserving = {.floor = kRules.floor, .is_observing = true};
constexpr SenderCounts::Rules kShared = {.floor = kRules.floor, .has_floor = false};

std::vector<std::uint64_t> recipients(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = first; i < first + count; ++i) hashes.push_back(hash_key(std::to_string(i), 5));
  return hashes;
}

// How many of `count` messages, each to the same recipient, are not too many.
int within_limits(SenderCounts& sender, HalfHours now, int count, const SenderCounts::Rules& rules = kRules) {
  const std::vector<std::uint64_t> one = recipients(1, 1);
  int within = 0;
  for (int i = 0; i < count; ++i) within += sender.count(now, one, rules) ? 0 : 1;
  return within;
}

TEST_CASE("a sender without a habit may send as many messages in an hour as the floor has, and no more") {
  SenderCounts sender(1, kStart);
  CHECK(within_limits(sender, kStart, 59) == 59);
  CHECK_FALSE(sender.is_over(kStart, kRules));
  CHECK(within_limits(sender, kStart + 1, 100) == 1);
  CHECK(sender.is_over(kStart + 1, kRules));
}

TEST_CASE("a sender that was calm for an hour and a half may send again") {
  SenderCounts sender(1, kStart);
  within_limits(sender, kStart, 100);
  CHECK(sender.is_over(kStart + 2, kRules));
  CHECK(within_limits(sender, kStart + 2, 1) == 0);
  CHECK_FALSE(sender.is_over(kStart + 3, kRules));
  CHECK(within_limits(sender, kStart + 3, 100) == 59);  // one is of the hour before
}

TEST_CASE("the limit for a day is ten times the limit for an hour") {
  SenderCounts sender(1, kStart);
  int within = 0;
  for (HalfHours hour = 0; hour < 14; ++hour) within += within_limits(sender, kStart + 3 * hour, 60);
  CHECK(within == 600);
  CHECK(sender.is_over(kStart + 60, kRules));
  // The first eight hours are no longer in the last day.
  CHECK_FALSE(sender.is_over(kStart + 4 * 16, kRules));
}

TEST_CASE("messages to more different recipients than the floor are too many, and those to the same ones are not") {
  SenderCounts sender(1, kStart);
  CHECK_FALSE(sender.count(kStart, recipients(0, 20), kRules));
  for (int i = 0; i < 30; ++i) CHECK_FALSE(sender.count(kStart, recipients(0, 20), kRules));
  CHECK(sender.count(kStart, recipients(20, 60), kRules));
}

TEST_CASE("the limits of a day hold for recipients, too, and so do habits") {
  constexpr SenderCounts::Rules kFew = {.floor = {.messages = 60, .recipients = 3}};
  SenderCounts sender(1, kStart);
  for (HalfHours i = 0; i < 6; ++i) CHECK_FALSE(sender.count(kStart + 3 * i, recipients(2 * i, 2), kFew));
  for (HalfHours i = 6; i < 20; ++i) sender.count(kStart + 3 * i, recipients(2 * i, 2), kFew);
  CHECK(sender.count(kStart + 60, recipients(40, 2), kFew));
  SenderCounts newsletter(1, kStart);
  newsletter.count(kStart, recipients(0, 100), kObserving);
  CHECK_FALSE(newsletter.count(kStart + kWeek, recipients(0, 200), kRules));
  CHECK(newsletter.count(kStart + kWeek, recipients(200, 300), kRules));
}

TEST_CASE("a floor that is larger than what can be counted is no limit") {
  SenderCounts sender(1, kStart);
  CHECK(within_limits(sender, kStart, 5, {.floor = {.messages = 1U << 31, .recipients = 1U << 31}}) == 5);
}

TEST_CASE("a sender may send three times its habit, of weeks before this one") {
  SenderCounts sender(1, kStart);
  CHECK(within_limits(sender, kStart, 20'000, kObserving) == 60);
  CHECK(within_limits(sender, kStart + 3, 100) == 0);  // the day was too much
  CHECK(within_limits(sender, kStart + kWeek, 20'000) == 20'000);
  CHECK(within_limits(sender, kStart + 2 * kWeek, 100'000) >= 3 * 18'800);
  CHECK(sender.is_over(kStart + 2 * kWeek, kRules));
}

TEST_CASE("a habit ends five weeks after it was last seen") {
  SenderCounts sender(1, kStart);
  within_limits(sender, kStart, 1000, kObserving);
  CHECK(within_limits(sender, kStart + 5 * kWeek, 1000) == 1000);
  SenderCounts other(1, kStart);
  within_limits(other, kStart, 1000, kObserving);
  CHECK(within_limits(other, kStart + 6 * kWeek, 1000) == 60);
}

TEST_CASE("excess mail does not become habit: from week to week a sender can at most triple its mail") {
  SenderCounts sender(1, kStart);
  CHECK(within_limits(sender, kStart, 10'000) == 60);
  const int second = within_limits(sender, kStart + kWeek, 10'000);
  CHECK(second <= 180);
  CHECK(second >= 165);
  CHECK(within_limits(sender, kStart + 2 * kWeek, 10'000) <= 540);
}

TEST_CASE("neither do excess recipients of few messages, nor excess messages to few recipients") {
  SenderCounts many_recipients(1, kStart);
  CHECK(many_recipients.count(kStart, recipients(1, 900), kRules));
  CHECK(many_recipients.count(kStart + kWeek, recipients(1, 120), kRules));
  SenderCounts few_messages(1, kStart);
  few_messages.count(kStart, recipients(1, 900), kRules);
  CHECK(within_limits(few_messages, kStart + kWeek, 200) == 60);
  SenderCounts few_recipients(1, kStart);
  within_limits(few_recipients, kStart, 900);
  CHECK(few_recipients.count(kStart + kWeek, recipients(1, 60), kRules));
}

TEST_CASE("a shared key has no floor, and no limit before it has a habit") {
  SenderCounts sender(1, kStart);
  CHECK(within_limits(sender, kStart, 5000, kShared) == 5000);
  CHECK(within_limits(sender, kStart + kWeek, 20'000, kShared) <= 15'000);
  CHECK(sender.is_over(kStart + kWeek, kShared));
}

TEST_CASE("a quiet domain with a habit may still send what the floor allows") {
  SenderCounts sender(1, kStart);
  within_limits(sender, kStart, 2, kShared);
  CHECK(within_limits(sender, kStart + kWeek, 100, kShared) == 60);
}

TEST_CASE("after the clock was set back, time stands still") {
  SenderCounts sender(1, kStart);
  within_limits(sender, kStart, 60);
  CHECK(within_limits(sender, kStart - 100, 1) == 0);
  CHECK(sender.last() == kStart);
}

TEST_CASE("copies of one message: a sixth of the floor, or as many as the habit allows") {
  SenderCounts sender(1, kStart);
  CHECK(sender.most_copies(kStart, kRules) == 10);
  within_limits(sender, kStart, 1000, kObserving);
  CHECK(sender.most_copies(kStart, kRules) == 10);
  CHECK(sender.most_copies(kStart + kWeek, kRules) >= 2800);
  CHECK(sender.most_copies(kStart, {.floor = {.messages = 1, .recipients = 1}}) == 1);
}

TEST_CASE("a sender that replaces another one inherits its recent traffic, and has no habit") {
  SenderCounts sender(1, kStart);
  within_limits(sender, kStart, 1000, kObserving);
  sender.become(2, kStart + kWeek);
  CHECK(sender.key() == 2);
  CHECK(within_limits(sender, kStart + kWeek, 100) == 60);
  sender.become(3, kStart + kWeek);
  CHECK(sender.is_over(kStart + kWeek, kRules));
}

TEST_CASE("a sender's weight is its mail of today, or its usual mail of a day") {
  SenderCounts newsletter(1, kStart);
  within_limits(newsletter, kStart, 1000, kObserving);
  CHECK(newsletter.weight(kStart) == 1000);
  CHECK(newsletter.weight(kStart + kWeek) >= 900);
  CHECK(newsletter.weight(kStart + kWeek) <= 1000);
  CHECK(newsletter.weight(kStart + 6 * kWeek) == 0);
}

}  // namespace
}  // namespace bloomgate
