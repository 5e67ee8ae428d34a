// Whatever comes is passed on at least once, and what came a moment ago is hardly passed on again.
#include "filter/gather/recent_domains.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "filter/base/parallel.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

constexpr std::uint64_t kLargeBytes = 4 * RecentDomains::kFirstBytes;

std::vector<KeyHash> drawn(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<KeyHash> hashes(count);
  std::ranges::generate(hashes, random);
  return hashes;
}

// A lane that keeps what it passes on.
struct Passing {
  explicit Passing(const RecentDomains& table) : lane(table) {}

  void add(KeyHash hash) {
    lane.add(hash, [this](KeyHash passed) { passed_on.push_back(passed); });
  }
  // `rounds` times each of `domains`.
  void add_rounds(const std::vector<KeyHash>& domains, unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i) std::ranges::for_each(domains, [this](KeyHash hash) { add(hash); });
  }
  void settle() {
    lane.settle([this](KeyHash passed) { passed_on.push_back(passed); });
  }
  std::size_t take_count() { return std::exchange(passed_on, {}).size(); }

  RecentDomains::Lane lane;
  std::vector<KeyHash> passed_on = {};
};

std::vector<KeyHash> each_once(std::vector<KeyHash> hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
  return hashes;
}

TEST_CASE("each domain is passed on, the one whose hash is zero, too", "[no threads]") {
  std::vector<KeyHash> domains = drawn(500'000, 1);
  for (const KeyHash hash : {KeyHash{0}, ~KeyHash{0}, KeyHash{1} << 63}) domains.push_back(hash);
  const RecentDomains table;
  Passing passing(table);
  passing.add_rounds(domains, 2);
  passing.settle();
  CHECK((each_once(passing.passed_on) == each_once(domains)));
  CHECK(passing.lane.came() == 2 * domains.size());
  CHECK(passing.lane.passed_on() == passing.passed_on.size());
}

TEST_CASE("threads that share the table pass on each domain between them") {
  constexpr unsigned kThreads = 4;
  const std::vector<KeyHash> domains = drawn(20'000, 2);
  const RecentDomains table;
  std::vector<Passing> passing(kThreads, Passing(table));
  run_parallel(kThreads, [&](unsigned thread) {
    std::vector<KeyHash> own = domains;
    std::ranges::shuffle(own, std::mt19937_64(thread));
    passing[thread].add_rounds(own, 3);
    passing[thread].settle();
  });
  std::vector<KeyHash> all;
  for (const Passing& one : passing) all.insert(all.end(), one.passed_on.begin(), one.passed_on.end());
  CHECK((each_once(all) == each_once(domains)));
}

TEST_CASE("of 10^5 domains with the same frequency, hardly any is passed on twice", "[no threads]") {
  const std::vector<KeyHash> domains = drawn(100'000, 3);
  const RecentDomains table;
  Passing passing(table);
  passing.add_rounds(domains, 1);
  passing.settle();
  CHECK(passing.take_count() >= domains.size());
  passing.add_rounds(domains, 10);
  passing.settle();
  CHECK(passing.take_count() < domains.size() / 2);
}

TEST_CASE("more domains than the table has room for are left out once it has grown", "[no threads]") {
  const std::vector<KeyHash> domains = drawn(500'000, 4);
  RecentDomains table(kLargeBytes);
  Passing passing(table);
  passing.add_rounds(domains, 4);
  passing.settle();
  const std::size_t before = passing.take_count();
  REQUIRE(table.should_grow(passing.lane.came(), passing.lane.passed_on()));
  table.grow();
  passing.lane.start_again();
  CHECK(!table.should_grow(passing.lane.came(), passing.lane.passed_on()));
  passing.add_rounds(domains, 4);
  passing.settle();
  const std::size_t after = passing.take_count();
  CHECK(after < before / 2);
  CHECK(after >= domains.size());
}

TEST_CASE("domains that come again are soon left out once new ones have stopped", "[no threads]") {
  const RecentDomains table;
  Passing passing(table);
  passing.add_rounds(drawn(300'000, 5), 1);  // so the table is passed by
  const std::vector<KeyHash> few = drawn(10, 6);
  passing.take_count();
  passing.add_rounds(few, 1'000'000);
  passing.settle();
  CHECK(passing.take_count() < 5'000'000);
  passing.add_rounds(few, 1'000'000);
  passing.settle();
  CHECK(passing.take_count() == 0);
}

}  // namespace
}  // namespace bloomgate::test
