#include "filter/ingest/read_ahead.hpp"

#include <mutex>
#include <set>
#include <stdexcept>

#include "filter/base/parallel.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

// A list of `count` blocks, each of which says its number when it is read.
ReadAhead::Claim numbered_blocks(std::uint64_t count, std::uint64_t& next) {
  return [count, &next](Block& block) -> std::function<void()> {
    if (next == count) return {};
    return [number = next++, &block] { block.turn = number; };
  };
}

TEST_CASE("one worker gets all blocks, in the order in which they were claimed") {
  std::uint64_t next = 0;
  ReadAhead ahead(numbered_blocks(1000, next));
  Block block;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    REQUIRE(ahead.next(block));
    REQUIRE(block.turn == number);
  }
  CHECK_FALSE(ahead.next(block));
  CHECK_FALSE(ahead.next(block));
}

TEST_CASE("several workers get every block once") {
  std::uint64_t next = 0;
  ReadAhead ahead(numbered_blocks(5000, next));
  std::mutex mutex;
  std::multiset<std::uint64_t> seen;
  run_parallel(6, [&](unsigned) {
    Block block;
    while (ahead.next(block)) {
      const std::lock_guard lock(mutex);
      seen.insert(block.turn);
    }
  });
  CHECK(seen.size() == 5000);
  CHECK(std::set(seen.begin(), seen.end()).size() == 5000);
}

TEST_CASE("while no worker takes a block, no more is read ahead than there is room for") {
  std::uint64_t next = 0;
  std::uint64_t taken = 0;
  {
    ReadAhead ahead(numbered_blocks(1'000'000, next));
    Block block;
    while (taken < 10 && ahead.next(block)) ++taken;
  }
  CHECK(next >= taken);
  CHECK(next < 100);
}

TEST_CASE("a read error is thrown once, at its place in the order, and ends the list for all workers") {
  std::uint64_t next = 0;
  ReadAhead ahead([&next](Block& block) -> std::function<void()> {
    return [number = next++, &block] {
      if (number == 10) throw std::runtime_error("the disk is gone");
      block.turn = number;
    };
  });
  Block block;
  for (std::uint64_t number = 0; number < 10; ++number) {
    REQUIRE(ahead.next(block));
    REQUIRE(block.turn == number);
  }
  CHECK_THROWS_WITH(ahead.next(block), "the disk is gone");
  CHECK_FALSE(ahead.next(block));
}

TEST_CASE("an error in claiming a block is thrown once") {
  ReadAhead ahead([](Block&) -> std::function<void()> { throw std::runtime_error("the list was replaced"); });
  Block block;
  CHECK_THROWS_WITH(ahead.next(block), "the list was replaced");
  CHECK_FALSE(ahead.next(block));
}

}  // namespace
}  // namespace bloomgate
