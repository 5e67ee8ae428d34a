#include "milter/learning/known_pairs.hpp"

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

using Day = KnownPairs::Day;

std::string user(std::size_t i) {
  return "u" + std::to_string(i) + "@ours.example";
}
std::string correspondent(std::size_t i) {
  return "c" + std::to_string(i) + "@example.org";
}

TEST_CASE("a pair counts for its own user only, and not in reverse") {
  KnownPairs known(1);
  CHECK_FALSE(known.find("ann@ours.example", "joe@example.org"));
  known.put("ann@ours.example", "joe@example.org", 5);
  CHECK(known.find("ann@ours.example", "joe@example.org") == Day{5});
  CHECK_FALSE(known.find("bob@ours.example", "joe@example.org"));
  CHECK_FALSE(known.find("ann@ours.example", "joe@example.or"));
  CHECK_FALSE(known.find("joe@example.org", "ann@ours.example"));
  CHECK(known.size() == 1);
}

TEST_CASE("random steps leave what a map would have", "[no threads]") {
  KnownPairs known(2);
  std::map<std::pair<std::size_t, std::size_t>, Day> want;
  std::minstd_rand random(3);
  Day today = 100;
  for (int step = 0; step < (test::kIsSanitized ? 20'000 : 200'000); ++step) {
    const std::pair<std::size_t, std::size_t> pair = {random() % 40, random() % 900};
    if (random() % 2 == 0) {
      const Day day = static_cast<Day>(today - random() % 5);
      known.put(user(pair.first), correspondent(pair.second), day);
      Day& kept = want[pair];
      kept = std::max(kept, day);
    } else {
      const auto found = want.find(pair);
      const Day expected = found == want.end() ? Day{0} : found->second;
      if (known.find(user(pair.first), correspondent(pair.second)).value_or(0) != expected) FAIL("step " << step);
    }
    if (step % 1'000 != 999) continue;
    ++today;
    const Day oldest = static_cast<Day>(today - 8);
    known.expire(oldest);
    std::erase_if(want, [&](const auto& each) { return each.second < oldest; });
    REQUIRE(known.size() == want.size());
  }
}

TEST_CASE("a pair takes 15 bytes at most, however many there are", "[no threads]") {
  KnownPairs known(4);
  const std::size_t fixed = known.bytes();
  constexpr std::size_t kPairs = test::kIsSanitized ? 400'000 : 1'000'000;
  std::size_t next = 300'000;
  for (std::size_t i = 0; i < kPairs; ++i) {
    known.put(user(i % 100), correspondent(i), 1);
    if (i + 1 != next) continue;
    CAPTURE(i);
    CHECK(known.bytes() - fixed <= 15 * (i + 1));
    next += 37'000;
  }
  CHECK(known.size() == kPairs);
}

TEST_CASE("a domain is known as long as one of its correspondents is") {
  KnownPairs known(6);
  CHECK_FALSE(known.find_domain("example.org"));
  known.put("ann@ours.example", "joe@example.org", 3);
  known.put("bob@ours.example", "\"a@b\"@example.org", 7);
  known.put("bob@ours.example", "pat@partner.example", 4);
  CHECK(known.find_domain("example.org") == 7);
  CHECK(known.find_domain("partner.example") == 4);
  for (const std::string_view unknown : {"", "org", "ours.example", "joe@example.org", "news.example.org"}) {
    CHECK_FALSE(known.find_domain(unknown));
  }
  CHECK(known.size() == 3);
  known.expire(5);
  CHECK(known.find_domain("example.org") == 7);
  CHECK_FALSE(known.find_domain("partner.example"));
}

TEST_CASE("known pairs are found while others are added") {
  KnownPairs known(5);
  constexpr std::size_t kAlways = 2'000;
  for (std::size_t i = 0; i < kAlways; ++i) known.put(user(1), correspondent(i), 9);
  std::atomic<bool> is_over = false;
  std::atomic<std::size_t> missed = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      do {
        for (std::size_t i = 0; i < kAlways; ++i) missed += known.find(user(1), correspondent(i)) ? 0U : 1U;
      } while (!is_over);
    });
  }
  for (std::size_t i = 0; i < 50'000; ++i) known.put(user(2), correspondent(i), static_cast<Day>(i % 2));
  known.expire(1);
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(missed == 0);
  CHECK(known.size() == kAlways + 25'000);
}

}  // namespace
}  // namespace bloomgate
