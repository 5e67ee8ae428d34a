#include "filter/layout/lookup_batch.hpp"

#include <array>
#include <set>
#include <string>
#include <vector>

#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/insert_keys.hpp"
#include "tests/support/memory_filter.hpp"

namespace bloomgate {
namespace {

TEST_CASE("for each key, in order, a batch has the result of a single look-up") {
  constexpr std::uint64_t kMembers = 2000;
  const Layout layout = GENERATE(from_range(std::begin(kLayouts), std::end(kLayouts)));
  const auto hashes = std::min(GENERATE(1U, 6U, kMaxHashes), layout_rules(layout).most_hashes());
  const HashFamily family = GENERATE(HashFamily::xxh3, HashFamily::fnv1a_murmur3);
  CAPTURE(layout_rules(layout).name(), hashes);
  FilterShape shape = {.layout = layout, .hash_family = family, .hashes = hashes, .seed = 5};
  shape.block_bytes = layout_rules(layout).default_block_bytes(hashes);
  shape.block_count = blocks_for(kMembers, 8, shape.block_bytes);
  std::vector<std::byte> body(body_bytes(shape));
  const auto key_of = [](std::uint64_t i) { return "user" + std::to_string(i) + "@example.org"; };
  test::insert_keys(shape, body, kMembers, key_of);

  // Every seventh member is an excluded sender.
  std::set<KeyHash> strangers;
  for (std::uint64_t i = 0; i < kMembers; i += 7) {
    std::array<std::uint64_t, kMaxHashes> values;
    layout_rules(layout).values_of(shape, key_of(i), values.data());
    strangers.insert(values[0]);
  }
  const std::vector<std::byte> excluded = test::bytes_of_hashes(strangers);
  const FilterView view(shape, body, {}, SortedHashes(excluded));
  LookupBatch batch(view);
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  std::uint64_t found_count = 0;
  const auto answer = [&] {
    const std::uint64_t first = answered;
    batch.test([&](std::size_t number, bool found) {
      REQUIRE(first + number == answered);
      if (answered % 7 == 0 && answered < kMembers && found) FAIL("excluded sender " << answered);
      if (found != view.may_contain(key_of(answered))) FAIL("key " << answered);
      found_count += found ? 1U : 0U;
      ++answered;
    });
  };
  for (; asked < 2 * kMembers; ++asked) {
    batch.add(key_of(asked));
    if (batch.size() != asked + 1 - answered) FAIL("size " << batch.size());
    // Batches of every size.
    if (batch.full() || asked % 61 == 0) answer();
  }
  answer();
  CHECK(batch.size() == 0);
  CHECK(answered == asked);
  CHECK(found_count >= kMembers - strangers.size());
  CHECK(found_count < 2 * kMembers);
}

}  // namespace
}  // namespace bloomgate
