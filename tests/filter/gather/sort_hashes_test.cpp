#include "filter/gather/sort_hashes.hpp"

#include <random>
#include <set>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// Random hashes with that many high bits in common, some of them twice.
std::vector<KeyHash> random_hashes(std::size_t count, unsigned common_bits) {
  std::mt19937_64 random(1);
  std::vector<KeyHash> hashes;
  const KeyHash high = common_bits == 0 ? 0 : ~KeyHash{0} << (64 - common_bits);
  while (hashes.size() < count) {
    hashes.push_back(random() | high);
    if (hashes.size() % 10 == 3) hashes.push_back(hashes.back());
  }
  return hashes;
}

void expect_sorted(const std::vector<KeyHash>& hashes, unsigned common_bits) {
  const std::set<KeyHash> want(hashes.begin(), hashes.end());
  HashSorter sorter;
  std::vector<KeyHash> out = {1};
  for (int time = 0; time < 2; ++time) {  // the second one finds the memory of the first
    out.resize(1);
    sorter.sort(hashes, common_bits, out);
    CHECK(out.front() == 1);
    CHECK(std::ranges::equal(std::span(out).subspan(1), want));
  }
}

TEST_CASE("sorted hashes ascend, each of them once") {
  const auto count = GENERATE(0U, 1U, 2U, 7U, 100U, 100'000U);
  const auto common_bits = GENERATE(0U, 1U, 12U, 32U);
  CAPTURE(count, common_bits);
  expect_sorted(random_hashes(count, common_bits), common_bits);
}

TEST_CASE("unevenly spread hashes are sorted as well") {
  std::vector<KeyHash> neighbours;
  for (KeyHash i = 50'000; i > 0; --i) neighbours.push_back(i);
  expect_sorted(neighbours, 0);
  expect_sorted(std::vector<KeyHash>(50'000, 42), 4);
  // As many as fit into one group, in descending order within one bucket of it.
  std::vector<KeyHash> bucket;
  for (KeyHash i = 4'000; i > 0; --i) bucket.push_back(i);
  expect_sorted(bucket, 0);
}

}  // namespace
}  // namespace bloomgate
