#include "filter/gather/hash_partitions.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

std::vector<KeyHash> random_hashes(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<KeyHash> hashes(count);
  std::ranges::generate(hashes, random);
  return hashes;
}

std::vector<KeyHash> sorted_content(const HashPartitions& partitions, unsigned bits) {
  std::vector<KeyHash> content;
  for (std::size_t partition = 0; partition < partitions.partition_count(); ++partition) {
    partitions.for_each_run(partition, [&](std::span<const KeyHash> run) {
      for (const KeyHash hash : run) {
        if ((bits == 0 ? 0 : hash >> (64 - bits)) != partition) FAIL("hash " << hash << " in " << partition);
        content.push_back(hash);
      }
    });
  }
  std::ranges::sort(content);
  return content;
}

TEST_CASE("every hash is in its own partition, exactly once, with any threads") {
  const auto bits = GENERATE(0U, 1U, 6U, 12U);
  const auto lanes = GENERATE(1U, 2U, 5U);
  constexpr std::size_t kOfLane = test::kIsSanitized ? 10'000 : 50'000;
  HashPartitions partitions(bits, lanes, std::uint64_t{16} << 20);
  std::vector<KeyHash> want;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const auto hashes = random_hashes(kOfLane, lane);
    want.insert(want.end(), hashes.begin(), hashes.end());
  }
  std::ranges::sort(want);
  for (const bool again : {false, true}) {
    CAPTURE(bits, lanes, again);
    REQUIRE(partitions.has_room_for(kOfLane));
    run_parallel(lanes, [&](unsigned lane) {
      for (const KeyHash hash : random_hashes(kOfLane, lane)) partitions.lane(lane).add(hash);
      partitions.lane(lane).settle();
    });
    CHECK(sorted_content(partitions, bits) == want);
    partitions.clear();
    CHECK(sorted_content(partitions, bits).empty());
  }
}

TEST_CASE("promised room exists even if all hashes fall into one partition") {
  HashPartitions partitions(6, 2, 1 << 20);
  std::uint64_t added = 0;
  while (partitions.has_room_for(1000)) {
    for (unsigned lane = 0; lane < 2; ++lane) {
      for (int i = 0; i < 1000; ++i) partitions.lane(lane).add(1);
    }
    added += 2000;
  }
  CHECK(added * sizeof(KeyHash) > (1 << 20) / 2);
  CHECK(sorted_content(partitions, 6).size() == added);
}

TEST_CASE("the partitions refuse hashes beyond their memory, and keep to it") {
  HashPartitions partitions(2, 1, 1 << 16);
  const auto fill = [&] {
    for (int i = 0; i < 1'000'000; ++i) partitions.lane(0).add(1);
  };
  CHECK(test::error_code_of(fill) == ErrorCode::out_of_memory);
}

TEST_CASE("all the memory is used, and not a hash more than it holds is promised or taken") {
  HashPartitions partitions(0, 1, 1 << 20);
  std::uint64_t room = 0;
  while (partitions.has_room_for(room + 1)) ++room;
  CHECK((room + 1) * sizeof(KeyHash) == 1 << 20);
  for (std::uint64_t i = 0; i < room + 1; ++i) partitions.lane(0).add(i);
  CHECK_FALSE(partitions.has_room_for(1));
  // The line of a lane is beside that memory.
  const auto fill_line = [&] {
    for (std::size_t i = 0; i < HashPartitions::kLineHashes; ++i) partitions.lane(0).add(i);
  };
  CHECK(test::error_code_of(fill_line) == ErrorCode::out_of_memory);
}

TEST_CASE("with the least memory each partition of each shard has room for a cache line, and more") {
  for (const unsigned lanes : {1U, 4U}) CHECK(HashPartitions(8, lanes, 1).has_room_for(64));
}

TEST_CASE("new hashes of a partition keep their order, and the memory of the replaced ones is free again") {
  const auto count = GENERATE(0U, 1U, 7U, 8U, 9U, 1000U, 20'000U);
  CAPTURE(count);
  HashPartitions partitions(1, 2, 1 << 19);
  const auto first = [](KeyHash hash) { return hash >> 1; };
  const auto content = [&partitions](std::size_t partition) {
    std::vector<KeyHash> hashes;
    partitions.for_each_run(partition,
                            [&](std::span<const KeyHash> run) { std::ranges::copy(run, std::back_inserter(hashes)); });
    return hashes;
  };
  std::vector<KeyHash> other;
  // Together, many times more hashes than the memory holds.
  for (unsigned round = 0; round < 20; ++round) {
    REQUIRE(partitions.has_room_for(10'000));
    for (unsigned lane = 0; lane < 2; ++lane) {
      for (const KeyHash hash : random_hashes(10'000, round)) partitions.lane(lane).add(first(hash));
      partitions.lane(lane).settle();
    }
    if (round == 0) {
      partitions.lane(1).add(~KeyHash{0});
      other = content(1);
    }
    std::vector<KeyHash> hashes = random_hashes(count, 100 + round);
    std::ranges::transform(hashes, hashes.begin(), first);
    partitions.replace(0, hashes);
    CHECK((content(0) == hashes));
    // Later hashes come behind them.
    partitions.lane(0).add(round);
    hashes.push_back(round);
    CHECK((content(0) == hashes));
    partitions.replace(0, {});
    CHECK(content(0).empty());
  }
  CHECK(content(1) == other);
  CHECK(other == std::vector<KeyHash>{~KeyHash{0}});
}

TEST_CASE("the number of partitions follows the array's size, up to what a cache holds") {
  struct Row {
    std::uint64_t bytes;
    unsigned want;
  };
  for (const auto& [bytes, want] : std::vector<Row>{{0, 0},
                                                    {1, 0},
                                                    {1 << 15, 0},
                                                    {(1 << 16) - 1, 0},
                                                    {1 << 16, 1},
                                                    {(1 << 17) - 1, 1},
                                                    {1 << 17, 2},
                                                    {std::uint64_t{1} << 27, 12},
                                                    {std::uint64_t{1} << 40, 12},
                                                    {~std::uint64_t{0}, 12}}) {
    CAPTURE(bytes);
    CHECK(HashPartitions::bits_for(bytes) == want);
  }
}

}  // namespace
}  // namespace bloomgate
