#include "filter/layout/ribbon_solver.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "filter/layout/ribbon_rate.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

using Registers = RibbonSolver::Registers;
using Block = std::vector<std::byte>;

std::vector<KeyHash> random_hashes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<KeyHash> hashes(count);
  for (KeyHash& hash : hashes) hash = random();
  return hashes;
}

// The hash that has a certain place.
KeyHash hash_at(std::uint64_t place) {
  std::uint64_t inverse = kProbeMultiplier;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kProbeMultiplier * inverse;
  return place * inverse;
}

Block solve(std::span<const KeyHash> keys, Registers registers = Registers::any, std::uint64_t salt = 77) {
  // What was in the block before makes no difference.
  Block block(kRibbonBlockBytes, std::byte{0xa5});
  RibbonSolver(registers).solve(keys, salt, block.data());
  return block;
}

std::size_t count_found(const Block& block, std::span<const KeyHash> keys) {
  return static_cast<std::size_t>(
      std::ranges::count_if(keys, [&](KeyHash key) { return ribbon_may_contain(block.data(), key); }));
}

TEST_CASE("the groups of a ribbon block fill all its words, side by side") {
  for (std::uint32_t count = kLeastRibbonGroups; count <= kMostRibbonGroups; ++count) {
    CAPTURE(count);
    const RibbonGroups groups(count);
    std::uint32_t begin = 0;
    for (std::uint32_t group = 0; group < count; ++group) {
      if (groups.begin_of(group) != begin) FAIL("group " << group);
      begin += groups.columns_of(group);
    }
    CHECK(begin == kRibbonWords);
    CHECK(groups.columns_of(0) <= 32);
    CHECK(groups.columns_of(count - 1) >= 1);
    for (const std::uint64_t place : {std::uint64_t{0}, ~std::uint64_t{0}}) {
      CHECK(RibbonRow(place, groups).group() + kRibbonRowGroups <= count);
    }
  }
}

TEST_CASE("a row has 128 coefficients, of which the first is 1") {
  std::mt19937_64 random(1);
  std::uint64_t ones = 0;
  constexpr int kRows = 10'000;
  for (int i = 0; i < kRows; ++i) {
    const RibbonRow row(random(), RibbonGroups(67));
    const unsigned first = row.start % kRibbonGroupSlots;
    REQUIRE(std::countr_zero(row.words[0]) == static_cast<int>(first));
    if (first == 0) REQUIRE(row.words[2] == 0);
    if (first != 0) REQUIRE(row.words[2] >> first == 0);
    for (const std::uint64_t word : row.words) ones += static_cast<unsigned>(std::popcount(word));
  }
  // 1 + 127 / 2 on average; a deviation of six of the mean's.
  CHECK(std::abs(static_cast<double>(ones) / kRows - 64.5) < 6 * std::sqrt(127.0 / 4 / kRows));
}

TEST_CASE("every key of a ribbon block is found, whatever their number", "[no threads]") {
  const auto count =
      GENERATE(values<std::size_t>({1,    2,    3,    63,   64,   65,    900,   998,   999,   1000,  2000, 4000,
                                    4033, 4096, 4160, 4500, 8192, 16000, 31000, 31894, 31895, 31896, 40000}));
  const auto registers = GENERATE(Registers::of_128_bits, Registers::any);
  CAPTURE(count);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto keys = random_hashes(count, seed);
    const Block block = solve(keys, registers);
    CHECK(count_found(block, keys) == count);
    CHECK(ribbon_key_count(block.data()) == count);
  }
}

TEST_CASE("a ribbon block without keys lists no sender") {
  const Block block = solve({});
  CHECK(block == Block(kRibbonBlockBytes));
  CHECK(count_found(block, random_hashes(10'000, 1)) == 0);
  CHECK(ribbon_rate(block) == 0);
}

TEST_CASE("the same keys give the same ribbon block, in any order, some of them twice, with any registers") {
  const auto count = GENERATE(values<std::size_t>({1, 2, 100, 1000, 4096, 9000, 31890, 32000}));
  CAPTURE(count);
  auto keys = random_hashes(count, 4);
  const Block want = solve(keys, Registers::of_128_bits);
  const auto again = keys;
  keys.insert(keys.end(), again.begin(), again.begin() + static_cast<std::ptrdiff_t>(count + 1) / 2);
  std::ranges::shuffle(keys, std::mt19937(5));
  CHECK(solve(keys, Registers::any) == want);
  CHECK(solve(keys, Registers::of_128_bits) == want);
  // Another seed, other false positives; all bits of a block that is too full are 0 with any.
  if (count <= 31890) CHECK(solve(keys, Registers::any, 78) != want);
}

TEST_CASE("a solver makes each block as if it were its first") {
  RibbonSolver solver;
  for (const std::size_t count : std::initializer_list<std::size_t>{5000, 3, 32000, 4096, 0, 900}) {
    const auto keys = random_hashes(count, count);
    Block block(kRibbonBlockBytes);
    solver.solve(keys, 77, block.data());
    CHECK(block == solve(keys));
  }
}

TEST_CASE("non-members pass a ribbon block at the rate of its groups, over its whole length", "[no threads]") {
  struct Row {
    std::size_t keys;
    int blocks;
  };
  const Row row =
      GENERATE(values<Row>({{31000, 4}, {16000, 4}, {8192, 8}, {4096, 40}, {4000, 40}, {3300, 40}, {2731, 60}}));
  CAPTURE(row.keys);
  constexpr std::size_t kStrangers = test::kIsSanitized ? 10'000 : 100'000;
  std::mt19937_64 random(6);
  double found = 0;
  double want = 0;
  std::vector<double> found_in(8);  // eighths of the block
  std::vector<double> want_in(8);
  for (int i = 0; i < row.blocks; ++i) {
    const Block block = solve(random_hashes(row.keys, 100 + static_cast<std::uint64_t>(i)), Registers::any,
                              static_cast<std::uint64_t>(i) * 512);
    const RibbonGroups groups(ribbon_group_count(block.data()));
    want += ribbon_rate(block) * kStrangers;
    for (std::size_t j = 0; j < kStrangers; ++j) {
      const KeyHash hash = random();
      const RibbonRow of_stranger(ribbon_place(hash), groups);
      const std::size_t eighth = ribbon_place(hash) >> 61;
      want_in[eighth] += std::ldexp(1.0, -static_cast<int>(groups.columns_of(of_stranger.group() + 2)));
      if (!ribbon_may_contain(block.data(), hash)) continue;
      found += 1;
      found_in[eighth] += 1;
    }
  }
  // Strangers whose rows follow from those of the keys add a little; 6 deviations are one in 500 million.
  CHECK(std::abs(found - want) < 0.01 * want + 6 * std::sqrt(want + 3));
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    CHECK(std::abs(found_in[i] - want_in[i]) < 0.03 * want_in[i] + 6 * std::sqrt(want_in[i] + 3));
  }
}

TEST_CASE("a ribbon block takes more groups for more keys, and passes every address if there are too many") {
  std::uint32_t last = 0;
  for (std::uint64_t keys = 1; keys < 32'000; keys += 7) {
    const std::uint32_t groups = ribbon_groups_for(keys);
    CHECK(groups >= std::max(last, kLeastRibbonGroups));
    last = groups;
    if (groups > kMostRibbonGroups) break;
    CHECK(keys <= most_ribbon_keys(groups));
    if (groups > kLeastRibbonGroups) CHECK(keys > most_ribbon_keys(groups - 1));
  }
  CHECK(last > kMostRibbonGroups);
  const Block block = solve(random_hashes(40'000, 1));
  CHECK(count_found(block, random_hashes(1000, 2)) == 1000);
  CHECK(ribbon_rate(block) == 1);
}

TEST_CASE("keys that crowd in one place of a ribbon block are found") {
  const auto start = GENERATE(values<std::uint64_t>({0, 1, std::uint64_t{1} << 63, ~std::uint64_t{0} - 5000}));
  const auto count = GENERATE(values<std::size_t>({100, 300, 2000}));
  std::vector<KeyHash> keys = random_hashes(2000, 8);
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(hash_at(start + i));
  for (const Registers registers : {Registers::of_128_bits, Registers::any}) {
    CHECK(count_found(solve(keys, registers), keys) == keys.size());
  }
  CHECK(solve(keys, Registers::of_128_bits) == solve(keys, Registers::any));
}

// Random keys, and some that all start in one place, which no block can spread.
std::vector<KeyHash> crowded_keys(std::size_t count, std::size_t crowded) {
  std::vector<KeyHash> keys = random_hashes(count - crowded, 8);
  for (std::uint64_t i = 0; i < crowded; ++i) keys.push_back(hash_at((std::uint64_t{1} << 63) + i));
  return keys;
}

TEST_CASE(
    "a ribbon block whose rows crowd is tried with more groups, eight times, and never with more than there are") {
  for (const auto registers : {Registers::of_128_bits, Registers::any}) {
    for (const std::size_t count : {std::size_t{2300}, std::size_t{31'700}}) {
      CAPTURE(count);
      const auto keys = crowded_keys(count, 300);
      const Block block = solve(keys, registers);
      CHECK(ribbon_group_count(block.data()) == std::min(ribbon_groups_for(count) + 7, kMostRibbonGroups));
      CHECK(count_found(block, keys) == count);
    }
  }
}

TEST_CASE("rows that crowd where the narrow columns of a ribbon block begin fit in the last try") {
  constexpr std::size_t kKeys = 2300;
  const RibbonGroups last(ribbon_groups_for(kKeys) + 7);
  REQUIRE(last.first_mixed() != 0);
  const std::uint32_t start = last.first_mixed() * kRibbonGroupSlots - 10;
  const std::uint64_t place = (~std::uint64_t{0} / (last.starts() + kRibbonLateStarts) + 1) * start;
  REQUIRE(RibbonRow(place, last).start == start);
  std::vector<KeyHash> keys = random_hashes(kKeys - 300, 8);
  for (std::uint64_t i = 0; i < 300; ++i) keys.push_back(hash_at(place + i));
  for (const auto registers : {Registers::of_128_bits, Registers::any}) {
    const Block block = solve(keys, registers);
    CHECK(ribbon_group_count(block.data()) == last.count());
    CHECK(count_found(block, keys) == kKeys);
  }
}

TEST_CASE("one ribbon block in twenty-five has a group more than the number of its keys needs", "[no threads]") {
  constexpr int kBlocks = test::kIsSanitized ? 100 : 500;
  constexpr std::size_t kKeys = 4096;
  int more = 0;
  for (int i = 0; i < kBlocks; ++i) {
    const Block block = solve(random_hashes(kKeys, 1000 + static_cast<std::uint64_t>(i)));
    const std::uint32_t groups = ribbon_group_count(block.data());
    REQUIRE(groups >= ribbon_groups_for(kKeys));
    more += groups > ribbon_groups_for(kKeys) ? 1 : 0;
  }
  CHECK(more > 0);
  CHECK(more < kBlocks / 5);
}

TEST_CASE("keys that crowd and come twice, in any order, give the block of each of them once") {
  auto keys = crowded_keys(1000, 200);
  const Block want = solve(keys);
  CHECK(ribbon_key_count(want.data()) == 1000);
  const auto again = keys;
  keys.insert(keys.end(), again.begin(), again.end());
  std::ranges::shuffle(keys, std::mt19937(5));
  CHECK(solve(keys) == want);
}

TEST_CASE("words of a ribbon block that no row reads are zero", "[no threads]") {
  std::size_t checked = 0;
  for (std::size_t keys = 900; keys < 12'000; keys += 50) {
    const Block block = solve(random_hashes(keys, keys));
    const RibbonGroups groups(ribbon_group_count(block.data()));
    // Where one or two groups have a column more, every row ends in a group without it.
    if (groups.wide() == 0 || groups.first_mixed() != 0) continue;
    for (std::uint32_t group = 0; group < groups.wide(); ++group) {
      const std::uint32_t word = 1 + groups.begin_of(group) + groups.columns_of(group) - 1;
      if (load_little_endian<std::uint64_t>(block.data() + 8 * word) != 0) FAIL(keys << " keys, group " << group);
      ++checked;
    }
  }
  CHECK(checked > 0);
}

TEST_CASE("a look-up in a ribbon block of any bytes stays within it") {
  // Exactly as large as it is, for AddressSanitizer.
  std::mt19937_64 random(9);
  for (std::uint32_t count = 0; count < 1024; ++count) {
    const auto block = std::make_unique<std::byte[]>(kRibbonBlockBytes);
    const auto fill = count % 2 == 0 ? std::byte{0} : std::byte{0xff};
    std::fill_n(block.get(), kRibbonBlockBytes, fill);
    store_little_endian(block.get(), static_cast<std::uint16_t>(count == 1023 ? 0xffff : count));
    bool found = false;
    for (int i = 0; i < 100; ++i) found = ribbon_may_contain(block.get(), random()) || found;
    found = ribbon_may_contain(block.get(), hash_at(0)) ||
            ribbon_may_contain(block.get(), hash_at(~std::uint64_t{0})) || found;
    if (!is_ribbon_group_count(ribbon_group_count(block.get()))) CHECK(!found);
  }
}

}  // namespace
}  // namespace bloomgate
