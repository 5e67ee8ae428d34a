#include "filter/report/space_saving.hpp"

#include <map>
#include <random>

#include "filter/report/figures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

TEST_CASE("as long as all words fit, every count is exact") {
  SpaceSaving words(3);
  for (const char* word : {"a", "b", "a", "c", "a", "b"}) words.add(word, 1, std::string("note ") + word);
  const auto top = words.top(2);
  REQUIRE(top.size() == 2);
  CHECK(top[0].word == "a");
  CHECK(top[0].count == 3);
  CHECK(top[0].error == 0);
  CHECK(top[0].note == "note a");
  CHECK(top[1].word == "b");
  CHECK(words.total() == 6);
  CHECK(words.size() == 3);
  CHECK_FALSE(words.has_dropped());
  CHECK(words.top(9).size() == 3);
  CHECK(words.count_of("b") == 2);
  CHECK(words.count_of("d") == 0);
}

TEST_CASE("at least one word is kept, and one that replaces another inherits its count and not its note") {
  SpaceSaving words(0);
  words.add("a", 2, "of a");
  CHECK_FALSE(words.has_dropped());
  words.add("b");
  const auto top = words.top(9);
  REQUIRE(top.size() == 1);
  CHECK((top[0].word == "b" && top[0].count == 3 && top[0].error == 2 && top[0].note.empty()));
  CHECK(words.has_dropped());
  CHECK(words.count_of("a") == 0);
}

TEST_CASE("words with equal counts are sorted by their bytes") {
  SpaceSaving words(9);
  for (const char* word : {"c", "a", "b"}) words.add(word);
  const auto top = words.top(3);
  CHECK(top[0].word == "a");
  CHECK(top[2].word == "c");
}

TEST_CASE("a million rare words neither displace the frequent ones nor take more memory", "[no threads]") {
  constexpr std::size_t kCapacity = 100;
  SpaceSaving words(kCapacity);
  std::mt19937_64 random(7);
  std::map<std::string, std::uint64_t> truth;
  for (std::uint64_t i = 0; i < (test::kIsSanitized ? 100'000 : 1'000'000); ++i) {
    std::string word = "d" + std::to_string(i) + ".attacker.example";
    if (random() % 20 == 0) word = "frequent" + std::to_string(random() % 3);
    if (word[0] == 'f') ++truth[word];
    words.add(word);
  }
  CHECK(words.size() == kCapacity);
  CHECK(words.has_dropped());
  const auto top = words.top(3);
  for (const auto& item : top) {
    CAPTURE(item.word);
    REQUIRE(truth.contains(item.word));
    CHECK(item.count >= truth[item.word]);
    CHECK(item.count - item.error <= truth[item.word]);
    CHECK(item.error <= words.total() / kCapacity);
  }
}

TEST_CASE("no count is too low, and none too high by more than it says") {
  SpaceSaving words(8);
  std::mt19937_64 random(1);
  std::map<std::string, std::uint64_t> truth;
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t a = random() % 30;
    const std::string word = std::to_string(std::min(a, random() % 30));
    ++truth[word];
    words.add(word);
    if (i % 100 != 0) continue;
    for (const auto& item : words.top(8)) {
      CHECK(item.count >= truth[item.word]);
      CHECK(item.count - item.error <= truth[item.word]);
    }
  }
}

TEST_CASE("a word and its note are cut off where they are too long") {
  SpaceSaving words(2);
  words.add(std::string(10'000, 'a'), 1, std::string(10'000, 'n'));
  words.add(std::string(9'000, 'a'), 2, std::string(10'000, 'n'));
  const auto top = words.top(2);
  REQUIRE(top.size() == 1);
  CHECK(top[0].word.size() == SpaceSaving::kMostWordBytes);
  CHECK(top[0].note.size() == SpaceSaving::kMostWordBytes);
  CHECK(top[0].count == 3);
}

TEST_CASE("quantiles of many times are exact to a fifth, and extremes and marks are exact") {
  TimeCounts times;
  CHECK(times.quantile_seconds(0.5) == 0);
  for (int i = 1; i <= 1000; ++i) times.add(i * 1e-5);
  CHECK(times.count() == 1000);
  CHECK(times.mean_seconds() == Approx(0.005005));
  CHECK(times.longest_seconds() == 0.01);
  CHECK(times.quantile_seconds(0.5) >= 0.005);
  CHECK(times.quantile_seconds(0.5) <= 0.005 * 1.19);
  CHECK(times.quantile_seconds(1) == 0.01);
  CHECK(times.quantile_seconds(0.001) <= 1.19e-5);
  CHECK(times.longer()[0] == 900);
  CHECK(times.longer()[1] == 0);
  times.add(1e5);
  times.add(0);
  CHECK(times.longest_seconds() == 1e5);
  CHECK(times.quantile_seconds(1) == 1e5);
  CHECK(times.longer()[3] == 1);
}

}  // namespace
}  // namespace bloomgate
