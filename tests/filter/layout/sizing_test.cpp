#include "filter/layout/sizing.hpp"

#include <cmath>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/layout/layout.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace bloomgate {
namespace {

constexpr std::uint32_t kPage = 4096;

TEST_CASE("a size is possible if the number of every bit fits in 64 bits") {
  constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 61) - 1;
  for (const std::uint32_t block_bytes : {8U, 64U, 4096U, 1U << 20}) {
    CAPTURE(block_bytes);
    CHECK(has_possible_size({.block_bytes = block_bytes, .block_count = kMostBytes / block_bytes}));
    CHECK_FALSE(has_possible_size({.block_bytes = block_bytes, .block_count = kMostBytes / block_bytes + 1}));
    CHECK_FALSE(has_possible_size({.block_bytes = block_bytes, .block_count = ~std::uint64_t{0}}));
  }
  CHECK_FALSE(has_possible_size({.block_bytes = 0, .block_count = 1}));
}

TEST_CASE("the best number of hashes is bits per entry times ln 2, rounded to the better neighbour") {
  struct Row {
    double bits_per_entry;
    std::uint32_t want;
  };
  const Row row = GENERATE(
      values<Row>({{1, 1}, {2, 1}, {3, 2}, {4, 3}, {5, 3}, {8, 6}, {10, 7}, {12, 8}, {16, 11}, {20, 14}, {64, 32}}));
  CAPTURE(row.bits_per_entry);
  CHECK(best_hashes(row.bits_per_entry) == row.want);
}

TEST_CASE("a classic filter has the false-positive rates of the textbook") {
  struct Row {
    double bits_per_entry;
    std::uint32_t hashes;
    double want;
  };
  const Row row =
      GENERATE(values<Row>({{8, 6, 0.0215771}, {10, 7, 0.00819372}, {16, 11, 0.000458711}, {2, 1, 0.393469}}));
  CHECK(classic_fpr(1e9, 1e9 * row.bits_per_entry, row.hashes) == Approx(row.want).epsilon(1e-4));
}

TEST_CASE("cutting the array into pages costs almost nothing, into cache lines a tenth") {
  const double classic = classic_fpr(1e9, 8e9, 6);
  CHECK(blocked_fpr(1e9, 244'140'625 / 1000, kPage, 6) == Approx(classic).epsilon(0.005));
  CHECK(blocked_fpr(1e9, 244'140'625 / 1000, kPage, 6) > classic);
  CHECK(blocked_fpr(1e9, 8'000'000'000 / 512, 64, 6) == Approx(0.0236).epsilon(0.005));
}

TEST_CASE("a blocked filter with a certain load averages the Poisson mixture") {
  // Four bits a block and one entry for each block on average, worked out by hand: sum over j of e^-1/j! (1-(3/4)^j).
  double want = 0;
  double term = std::exp(-1.0);
  for (int j = 0; j < 60; ++j) {
    want += term * (1 - std::pow(1 - 1.0 / 8, j));
    term /= j + 1;
  }
  CHECK(blocked_fpr(1000, 1000, 1, 1) == Approx(want).epsilon(1e-12));
}

// The distribution of the ones in a block, carried on probe by probe: exact, and too slow for pages.
double exact_fpr_of_small_blocks(double load, std::uint32_t block_bytes, std::uint32_t hashes) {
  const std::size_t bits = block_bytes * 8;
  std::vector<double> ones(bits + 1);
  ones[0] = 1;
  double rate = 0;
  double probability = std::exp(-load);
  for (int j = 1; j < 20 * load + 40; ++j) {
    for (std::uint32_t probe = 0; probe < hashes; ++probe) {
      for (std::size_t i = bits; i > 0; --i) {
        const auto hit = static_cast<double>(i) / static_cast<double>(bits);
        ones[i] = ones[i] * hit + ones[i - 1] * (1 - hit + 1 / static_cast<double>(bits));
      }
      ones[0] = 0;
    }
    probability *= load / j;
    double mean = 0;
    for (std::size_t i = 1; i <= bits; ++i) {
      mean += ones[i] * std::pow(static_cast<double>(i) / static_cast<double>(bits), hashes);
    }
    rate += probability * mean;
  }
  return rate;
}

TEST_CASE("the rate of small blocks is exact to a part in a hundred, the spread of their ones included") {
  struct Row {
    double bits_per_entry;
    std::uint32_t block_bytes;
    std::uint32_t hashes;
  };
  const Row row = GENERATE(values<Row>(
      {{8, 64, 6}, {12, 64, 8}, {16, 64, 11}, {20, 64, 14}, {20, 64, 12}, {2, 64, 1}, {64, 64, 32}, {16, 128, 11}}));
  CAPTURE(row.bits_per_entry, row.block_bytes, row.hashes);
  const double load = row.block_bytes * 8 / row.bits_per_entry;
  CHECK(blocked_fpr(load * 1000, 1000, row.block_bytes, row.hashes) ==
        Approx(exact_fpr_of_small_blocks(load, row.block_bytes, row.hashes)).epsilon(0.01));
}

TEST_CASE("the best number of hashes is lower in small blocks") {
  CHECK(best_hashes(8, Layout::line, 64) == 5);
  CHECK(best_hashes(20, Layout::line, 64) < best_hashes(20));
  CHECK(best_hashes(20, Layout::classic, 8) == best_hashes(20));
  CHECK(best_hashes(20, Layout::partitioned, 8) == best_hashes(20));
}

TEST_CASE("no other number of hashes has a lower rate than the best") {
  struct Row {
    Layout layout;
    std::uint32_t block_bytes;
  };
  const Row row =
      GENERATE(values<Row>({{Layout::page, kPage}, {Layout::line, 64}, {Layout::line, 512}, {Layout::classic, 8}}));
  for (const double bits_per_entry : {1.0, 1.5, 6.5, 12.0, 20.0, 40.0, 64.0}) {
    const std::uint32_t best = best_hashes(bits_per_entry, row.layout, row.block_bytes);
    CAPTURE(layout_rules(row.layout).name(), row.block_bytes, bits_per_entry, best);
    FilterShape shape = {.layout = row.layout, .block_bytes = row.block_bytes, .block_count = 1'000'000};
    const double entries = 8e6 * row.block_bytes / bits_per_entry;
    shape.hashes = best;
    const double rate = expected_fpr(entries, shape);
    for (shape.hashes = 1; shape.hashes <= kMaxHashes; ++shape.hashes) {
      CAPTURE(shape.hashes);
      CHECK(expected_fpr(entries, shape) >= rate);
    }
  }
}

TEST_CASE("a partitioned filter has the rate of a classic one, except what its slices' size adds") {
  CHECK(partitioned_fpr(1e6, 8e6, 6) == Approx(classic_fpr(1e6, 8e6, 6)).epsilon(1e-5));
  // One entry in two slices of one bit: everything is found.
  CHECK(partitioned_fpr(1, 2, 2) == 1);
  // Two slices of two bits: each bit is set with probability one half.
  CHECK(partitioned_fpr(1, 4, 2) == Approx(0.25));
}

TEST_CASE("an empty filter has no false positives and a full one only those") {
  CHECK(blocked_fpr(0, 10, kPage, 6) == 0);
  CHECK(blocked_fpr(1e6, 1, kPage, 6) == Approx(1));
  CHECK(blocked_fpr(1e6, 1, kPage, 1) == Approx(1));
  for (double entries = 1e5; entries < 1e7; entries *= 1.5) CHECK(blocked_fpr(entries, 1, kPage, 1) <= 1);
  const FilterShape shape = {.block_count = 10};
  CHECK(fpr_from_fill(0, shape) == 0);
  CHECK(fpr_from_fill(10ULL * kPage * 8, shape) == 1);
  CHECK(std::isinf(distinct_entries(10ULL * kPage * 8, shape)));
}

TEST_CASE("the rate of two filters is that of either, and the rate of no filter is exactly zero, without a sign") {
  CHECK(fpr_of_several(std::vector<double>{0.02, 0.03}) == Approx(1 - 0.98 * 0.97));
  CHECK(fpr_of_several(std::vector<double>{1e-18, 1e-18}) == Approx(2e-18));
  for (const double none : {fpr_of_several({}), fpr_of_several(std::vector<double>{0})}) {
    CHECK(none == 0);
    CHECK_FALSE(std::signbit(none));
  }
}

TEST_CASE("two addresses of which either may be listed have nearly twice the rate") {
  CHECK(either_fpr(0.02) == Approx(1 - 0.98 * 0.98));
  CHECK(either_fpr(0) == 0);
  CHECK(either_fpr(1) == 1);
}

TEST_CASE("the number of blocks is rounded up and is at least one") {
  CHECK(blocks_for(0, 8, kPage) == 1);
  CHECK(blocks_for(1, 8, kPage) == 1);
  CHECK(blocks_for(4096, 8, kPage) == 1);
  CHECK(blocks_for(4097, 8, kPage) == 2);
  CHECK(blocks_for(1'000'000'000, 8, kPage) == 244'141);
  CHECK(blocks_for(1'000'000'000, 9.6, kPage) == 292'969);
  CHECK(blocks_for(1'000'000, 1, kPage) == 31);
  CHECK(blocks_for(1'000'000, 64, kPage) == 1954);
}

TEST_CASE("sizes are exact far beyond 2^32 bytes") {
  // 2^50 entries of 64 bits: 2^53 bytes, 2^41 blocks.
  CHECK(blocks_for(std::uint64_t{1} << 50, 64, kPage) == std::uint64_t{1} << 41);
}

TEST_CASE("an impossible size is refused by name") {
  struct Row {
    std::uint64_t entries;
    double bits_per_entry;
    ErrorCode want;
  };
  const Row row = GENERATE(values<Row>({
      {1, 0.99, ErrorCode::bad_argument},
      {1, 64.01, ErrorCode::bad_argument},
      {1, -8, ErrorCode::bad_argument},
      {1, std::nan(""), ErrorCode::bad_argument},
      {std::uint64_t{1} << 63, 64, ErrorCode::size_overflow},
      {~std::uint64_t{0}, 64, ErrorCode::size_overflow},
  }));
  CAPTURE(row.entries, row.bits_per_entry);
  const BloomgateError error = test::error_of([&] { blocks_for(row.entries, row.bits_per_entry, kPage); });
  CHECK(error.code() == row.want);
}

TEST_CASE("the bits for a rate give that rate") {
  const double fpr = GENERATE(0.5, 0.1, 0.0216, 0.01, 0.001, 1e-6);
  const double bits = bits_per_entry_for_fpr(fpr, Layout::page, kPage);
  CHECK(blocked_fpr(1e9, blocks_for(1'000'000'000, bits, kPage), kPage, best_hashes(bits)) ==
        Approx(fpr).epsilon(0.001));
}

TEST_CASE("with a given number of hashes a rate takes more bits than with the best") {
  const double best = bits_per_entry_for_fpr(0.01, Layout::classic, 8);
  // Solved for m/n: -k / ln(1 - p^(1/k)).
  CHECK(best == Approx(-7 / std::log1p(-std::pow(0.01, 1.0 / 7))).epsilon(1e-4));
  CHECK(bits_per_entry_for_fpr(0.01, Layout::classic, 8, 4) ==
        Approx(-4 / std::log1p(-std::pow(0.01, 1.0 / 4))).epsilon(1e-4));
  CHECK_THROWS_WITH(bits_per_entry_for_fpr(1e-6, Layout::classic, 8, 1),
                    "no filter of 1 to 64 bits per entry and 1 hashes has a false-positive rate of 0.000001");
}

TEST_CASE("the least hashes for a rate give it, and one less does not") {
  const std::uint32_t hashes = least_hashes_for_fpr(0.001, 16, Layout::page, kPage);
  CHECK(hashes == 6);
  CHECK(blocked_fpr(1e8, 48829, kPage, hashes) <= 0.001);
  CHECK(blocked_fpr(1e8, 48829, kPage, hashes - 1) > 0.001);
  CHECK_THROWS_WITH(least_hashes_for_fpr(0.001, 8, Layout::page, kPage),
                    "8.000000 bits per entry do not give a false-positive rate of 0.001000 with any number of hashes; "
                    "allow more bits per entry");
  // The lowest rate of all, to the last digit.
  const FilterShape best = {.hashes = best_hashes(16), .block_count = 1'000'000};
  const double lowest = expected_fpr(8.0 * static_cast<double>(body_bytes(best)) / 8 / 2, best);
  CHECK(least_hashes_for_fpr(lowest, 16, Layout::page, kPage) == best.hashes);
  CHECK_THROWS_AS(least_hashes_for_fpr(std::nextafter(lowest, 0), 16, Layout::page, kPage), BloomgateError);
}

TEST_CASE("a rate that no filter reaches is refused") {
  const double fpr = GENERATE(0.0, 1.0, -1.0, 1e-30, std::nan(""));
  CHECK_THROWS_AS(bits_per_entry_for_fpr(fpr, Layout::page, kPage), BloomgateError);
}

}  // namespace
}  // namespace bloomgate
