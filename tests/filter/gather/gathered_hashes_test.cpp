// Repeated and different hashes, in memory and on disk: each comes out once, in ascending order.
#include "filter/gather/gathered_hashes.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{2} << 20;
constexpr std::uint64_t kAtOnce = 20'000;
constexpr unsigned kLanes = 2;
constexpr int kOften = kIsSanitized ? 8 : 20;

struct Gathered {
  const TemporaryFolder folder = {};
  GatheredHashes hashes = GatheredHashes(kLanes, kMemory, folder.path());
  std::vector<KeyHash> want = {};

  // Adds `count` random hashes of `some` to each lane. Makes room first, as the builder does.
  void add(std::span<const KeyHash> some, std::uint64_t count, std::mt19937_64& random) {
    if (!hashes.has_room_for(count)) hashes.make_room_by_uniting(kLanes, count);
    REQUIRE(hashes.has_room_for(count));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const KeyHash hash = some[random() % some.size()];
        want.push_back(hash);
        hashes.lane(lane).add(hash);
      }
      hashes.lane(lane).settle();
    }
  }
  void check() {
    std::ranges::sort(want);
    want.erase(std::ranges::unique(want).begin(), want.end());
    for (const bool united : {false, true}) {
      CAPTURE(united);
      if (united) hashes.unite_in_memory(kLanes);
      std::vector<KeyHash> got;
      hashes.for_each_once(kLanes,
                           [&](std::span<const KeyHash> run) { got.insert(got.end(), run.begin(), run.end()); });
      CHECK((got == want));
    }
  }
};

std::vector<KeyHash> drawn(std::size_t count, std::mt19937_64& random) {
  std::vector<KeyHash> hashes(count);
  std::ranges::generate(hashes, random);
  // Both ends of the range, and their neighbours.
  for (const KeyHash hash : {KeyHash{0}, KeyHash{1}, ~KeyHash{0}, ~KeyHash{0} - 1}) hashes.push_back(hash);
  return hashes;
}

TEST_CASE("repeated hashes stay in memory") {
  std::mt19937_64 random(1);
  // Fewer hashes in a partition than a set has slots for, and so many that the set grows.
  const auto different = GENERATE(std::size_t{1}, std::size_t{500}, std::size_t{60'000});
  CAPTURE(different);
  Gathered gathered;
  const std::vector<KeyHash> some = drawn(different, random);
  for (int i = 0; i < kOften; ++i) gathered.add(some, kAtOnce, random);
  CHECK_FALSE(gathered.hashes.has_spilled());
  gathered.check();
}

TEST_CASE("repeated hashes stay in memory if all fall into one partition") {
  std::mt19937_64 random(2);
  std::vector<KeyHash> some = drawn(20'000, random);
  for (KeyHash& hash : some) hash >>= GatheredHashes::kPartitionBits;
  Gathered gathered;
  for (int i = 0; i < kOften; ++i) gathered.add(some, kAtOnce, random);
  CHECK_FALSE(gathered.hashes.has_spilled());
  gathered.check();
}

TEST_CASE("different hashes go to the disk, and come back in order") {
  std::mt19937_64 random(3);
  Gathered gathered;
  for (int i = 0; i < kOften; ++i) gathered.add(drawn(2 * kAtOnce, random), kAtOnce, random);
  CHECK(gathered.hashes.has_spilled());
  CHECK(gathered.hashes.spilled_bytes() > kMemory / 2);
  gathered.check();
}

TEST_CASE("no hash is lost if the first ones are repeated and later ones differ") {
  std::mt19937_64 random(4);
  Gathered gathered;
  const std::vector<KeyHash> some = drawn(5000, random);
  for (int i = 0; i < kOften; ++i) gathered.add(some, kAtOnce, random);
  CHECK_FALSE(gathered.hashes.has_spilled());
  for (int i = 0; i < kOften; ++i) gathered.add(drawn(2 * kAtOnce, random), kAtOnce, random);
  for (int i = 0; i < 5; ++i) gathered.add(some, kAtOnce, random);
  CHECK(gathered.hashes.has_spilled());
  gathered.check();
}

}  // namespace
}  // namespace bloomgate::test
