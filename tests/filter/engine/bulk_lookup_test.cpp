#include "filter/engine/bulk_lookup.hpp"

#include <string>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/insert_keys.hpp"
#include "tests/support/memory_filter.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a bulk look-up counts what look-ups one by one find") {
  constexpr std::uint64_t kFewer = test::kIsSanitized ? 5 : 1;
  constexpr std::uint64_t kMembers = 1'000'000 / kFewer;
  constexpr std::uint64_t kAsked = 1'500'000 / kFewer;
  const Layout layout = GENERATE(Layout::page, Layout::line, Layout::ribbon);
  const auto threads = GENERATE(1U, 3U);
  if (test::kIsSanitized && threads == 1) return;
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
  constexpr std::uint64_t kPiece = 100'000 / kFewer;
  // Too little for all of them, so that there are several rounds.
  BulkLookup lookup(view, threads, (std::uint64_t{6} << 20) / kFewer);
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

TEST_CASE("a bulk look-up counts domain entries as well, in every hash family and every shard") {
  const HashFamily family = GENERATE(from_range(std::begin(kHashFamilies), std::end(kHashFamilies)));
  const std::uint64_t seed = GENERATE(0U, 5U);
  CAPTURE(hash_family_name(family), seed);
  test::MemoryFilter filter({.hash_family = family, .block_count = 100, .seed = seed});
  for (unsigned i = 0; i < 1000; ++i) {
    filter.insert("user" + std::to_string(i) + "@example.org");
    filter.insert("@" + std::to_string(i) + ".example");
  }
  const FilterView view = filter.view();
  BulkLookup lookup(view, 2, 1 << 20);
  CHECK(lookup.keys() == 0);
  CHECK(lookup.found() == 0);
  std::uint64_t want = 0;
  for (const unsigned round : {0U, 1U}) {
    for (unsigned i = 0; i < 1000; ++i) {
      const std::string address = "user" + std::to_string(2 * i + round) + "@example.org";
      const std::string domain = "@" + std::to_string(2 * i + round) + ".example";
      lookup.lane(i % 2).add(address);
      lookup.lane(i % 2).add_domain(domain);
      lookup.lane(i % 2).add_found();
      want += 1U + (view.may_contain(address) ? 1U : 0U) + (view.contains_domain(domain) ? 1U : 0U);
    }
    for (const unsigned lane : {0U, 1U}) lookup.lane(lane).settle();
    lookup.look_up();
    CHECK(lookup.keys() == (round + 1) * 3000);
    CHECK(lookup.found() == want);
  }
  CHECK(want >= 4000);
  CHECK(want < 4100);
}

TEST_CASE("a bulk look-up with the least memory says when it is full, and continues after a look-up") {
  test::MemoryFilter filter({.block_count = 1});
  filter.insert("joe@example.org");
  BulkLookup lookup(filter.view(), 1, 1);
  std::uint64_t added = 0;
  for (int round = 0; round < 3; ++round) {
    while (lookup.has_room_for(1)) {
      lookup.lane(0).add("joe@example.org");
      ++added;
    }
    lookup.lane(0).settle();
    lookup.look_up();
    REQUIRE(lookup.has_room_for(1));
    CHECK(lookup.found() == added);
  }
  CHECK(lookup.keys() == added);
  CHECK(added > 2);
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
