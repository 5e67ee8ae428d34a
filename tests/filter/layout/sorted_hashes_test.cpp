#include "filter/layout/sorted_hashes.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/memory_filter.hpp"

namespace bloomgate::test {
namespace {

constexpr KeyHash kLargest = std::numeric_limits<KeyHash>::max();

std::set<KeyHash> random_hashes(std::size_t count, std::uint64_t seed, KeyHash from = 0, KeyHash to = kLargest) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<KeyHash> any(from, to);
  std::set<KeyHash> hashes;
  while (hashes.size() < count) hashes.insert(any(random));
  return hashes;
}

// All that are in the set, their neighbours, the extremes, and others: the look-up says what the set says.
void expect_same(const std::set<KeyHash>& want) {
  const std::vector<std::byte> bytes = bytes_of_hashes(want);
  const SortedHashes hashes{bytes};
  REQUIRE(hashes.size() == want.size());
  CHECK(hashes.is_strictly_ascending());
  std::set<KeyHash> asked = random_hashes(1000, 99);
  for (const KeyHash hash : want) asked.insert({hash - 1, hash, hash + 1});
  asked.insert({0, 1, kLargest - 1, kLargest});
  std::size_t wrong = 0;
  for (const KeyHash hash : asked) wrong += hashes.contains(hash) == want.contains(hash) ? 0U : 1U;
  CHECK(wrong == 0);
}

TEST_CASE("a set of hashes has the hashes that were added, and no others") {
  struct Row {
    const char* name;
    std::set<KeyHash> hashes;
  };
  std::set<KeyHash> with_extremes = random_hashes(1000, 3);
  with_extremes.insert({0, kLargest});
  std::set<KeyHash> uneven = random_hashes(500, 4, 0, 1 << 20);
  uneven.merge(random_hashes(500, 5, kLargest - 1000, kLargest));
  std::set<KeyHash> powers;
  for (int bit = 0; bit < 64; ++bit) powers.insert(KeyHash{1} << bit);
  const std::vector<Row> rows = {
      {"none", {}},
      {"only 0", {0}},
      {"only the largest", {kLargest}},
      {"one in the middle", {kLargest / 2}},
      {"0 and the largest", {0, kLargest}},
      {"two neighbours", {41, 42}},
      {"a thousand, even", random_hashes(1000, 1)},
      {"a hundred thousand, even", random_hashes(100'000, 2)},
      {"with both extremes", with_extremes},
      {"all at the two ends", uneven},
      {"powers of two", powers},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    expect_same(row.hashes);
  }
}

TEST_CASE("an empty set has no hashes, and an incomplete hash at the end is ignored") {
  CHECK(SortedHashes().empty());
  CHECK_FALSE(SortedHashes().contains(0));
  const std::vector<std::byte> bytes(12, std::byte{0xff});
  CHECK(SortedHashes(bytes).size() == 1);
  CHECK(SortedHashes(bytes).contains(kLargest));
}

TEST_CASE("a look-up in unsorted bytes ends, and stays inside them") {
  std::mt19937_64 random(6);
  for (std::size_t round = 0; round < 200; ++round) {
    std::vector<std::byte> bytes(round * sizeof(KeyHash));
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
    const SortedHashes hashes{bytes};
    for (int i = 0; i < 50; ++i) hashes.contains(random());
    hashes.contains(0);
    hashes.contains(kLargest);
  }
}

TEST_CASE("order is strict: neither falling nor equal neighbours are in order") {
  const auto is_in_order = [](const std::vector<KeyHash>& hashes) {
    std::vector<std::byte> bytes(hashes.size() * sizeof(KeyHash));
    for (std::size_t i = 0; i < hashes.size(); ++i) store_little_endian(bytes.data() + i * sizeof(KeyHash), hashes[i]);
    return SortedHashes(bytes).is_strictly_ascending();
  };
  CHECK(is_in_order({}));
  CHECK(is_in_order({7}));
  CHECK(is_in_order({0, 1, kLargest}));
  CHECK_FALSE(is_in_order({1, 1}));
  CHECK_FALSE(is_in_order({0, 2, 1}));
  CHECK_FALSE(is_in_order({kLargest, 0}));
}

}  // namespace
}  // namespace bloomgate::test
