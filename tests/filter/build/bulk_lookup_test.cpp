#include "filter/build/bulk_lookup.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/layout/sizing.hpp"
#include "tests/support/insert_keys.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a bulk look-up counts what look-ups one by one find") {
  constexpr std::uint64_t kMembers = 1'000'000;
  constexpr std::uint64_t kAsked = 1'500'000;
  const Layout layout = GENERATE(Layout::page, Layout::line, Layout::ribbon);
  const auto threads = GENERATE(1U, 3U);
  FilterShape shape = {.layout = layout, .hashes = layout_rules(layout).most_hashes() == 1 ? 1U : 6U, .seed = 5};
  shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
  shape.block_count = blocks_for(kMembers, 8, shape.block_bytes);
  std::vector<std::byte> body(shape.block_bytes * shape.block_count);
  const auto key_of = [](std::uint64_t i) { return std::to_string(i); };
  test::insert_keys(shape, body, kMembers, key_of);
  const FilterView view(shape, body);
  std::uint64_t want = 0;
  for (std::uint64_t i = 0; i < kAsked; ++i) want += view.may_contain(key_of(i)) ? 1U : 0U;

  REQUIRE(BulkLookup::suits(view));
  constexpr std::uint64_t kPiece = 100'000;
  // Too little for all of them, so that there are several rounds.
  BulkLookup lookup(view, threads, std::uint64_t{6} << 20);
  int rounds = 0;
  for (std::uint64_t first = 0; first < kAsked; first += threads * kPiece) {
    if (!lookup.has_room_for(kPiece)) {
      lookup.look_up();
      ++rounds;
    }
    run_parallel(threads, [&](unsigned index) {
      const std::uint64_t begin = first + index * kPiece;
      for (std::uint64_t i = begin; i < std::min(begin + kPiece, kAsked); ++i) lookup.lane(index).add(key_of(i));
      lookup.lane(index).settle();
    });
  }
  lookup.look_up();
  CHECK(rounds > 0);
  CHECK(lookup.keys() == kAsked);
  CHECK(lookup.found() == want);
  CHECK(lookup.found() > kMembers);
}

TEST_CASE("a bulk look-up is for layouts in which an entry is one value") {
  for (const Layout layout : {Layout::classic, Layout::partitioned}) {
    FilterShape shape = {.layout = layout, .block_count = 10};
    shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
    const std::vector<std::byte> body(shape.block_bytes * shape.block_count);
    CHECK_FALSE(BulkLookup::suits(FilterView(shape, body)));
  }
}

}  // namespace
}  // namespace bloomgate
