#include "milter/brake/distinct_count.hpp"

#include <cmath>
#include <string>

#include "filter/hash/hash.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

std::uint64_t hash_of(std::uint64_t number, std::uint64_t seed) {
  return hash_key(std::to_string(number), seed);
}

TEST_CASE("the estimated number of different values is mostly within a quarter of the true one", "[no threads]") {
  for (const unsigned count : {1U, 2U, 5U, 15U, 30U, 60U, 120U, 500U, 3000U, 20'000U, 300'000U}) {
    CAPTURE(count);
    if (test::kIsSanitized && count > 3000) break;
    constexpr int kRounds = 40;
    int near = 0;
    double sum = 0;
    for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
      DistinctCount values;
      for (std::uint64_t i = 0; i < count; ++i) {
        values.add(hash_of(i, seed));
        values.add(hash_of(i / 2, seed));  // again
      }
      const double ratio = values.estimate() / static_cast<double>(count);
      CHECK(ratio > 0.5);
      CHECK(ratio < 1.75);
      near += std::abs(ratio - 1) < 0.25 ? 1 : 0;
      sum += ratio;
    }
    CHECK(near >= kRounds * 3 / 4);
    CHECK(std::abs(sum / kRounds - 1) < 0.08);
  }
}

TEST_CASE("nothing counts as nothing, and one value as one") {
  DistinctCount values;
  CHECK(values.estimate() == 0);
  values.add(hash_of(1, 1));
  CHECK(static_cast<int>(values.estimate()) == 1);
}

TEST_CASE("two counts merged are the count of both") {
  DistinctCount first, second, both;
  for (std::uint64_t i = 0; i < 200; ++i) {
    DistinctCount& one = i % 3 == 0 ? first : second;
    one.add(hash_of(i, 7));
    both.add(hash_of(i, 7));
  }
  first.merge(second);
  CHECK(first == both);
  second.merge(both);
  CHECK(second == both);
}

}  // namespace
}  // namespace bloomgate
