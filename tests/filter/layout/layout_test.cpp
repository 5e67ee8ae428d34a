// What holds for every layout: limits, look-ups, and the false positives that its theory promises.
#include "filter/layout/layout.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "filter/layout/bits.hpp"
#include "filter/layout/filter_view.hpp"
#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/insert_keys.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate::test {
namespace {

FilterShape shape_for(Layout layout, std::uint32_t hashes, std::uint64_t entries, double bits_per_entry) {
  FilterShape shape = {.layout = layout, .hashes = hashes, .seed = 11};
  shape.block_bytes = layout_rules(layout).default_block_bytes(hashes);
  shape.block_count = blocks_for(entries, bits_per_entry, shape.block_bytes);
  return shape;
}

// Distinct for distinct numbers.
std::string_view key_of(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

double measure(const FilterShape& shape, std::uint64_t members, std::uint64_t probes) {
  std::vector<std::byte> body(body_bytes(shape));
  const FilterView view(shape, body);
  insert_keys(shape, body, members, [](const std::uint64_t& i) { return key_of(i); });
  for (std::uint64_t i = 0; i < members; ++i) {
    if (!view.may_contain(key_of(i))) FAIL("member " << i << " is missing");
  }
  std::uint64_t found = 0;
  for (std::uint64_t i = members; i < members + probes; ++i) found += view.may_contain(key_of(i)) ? 1U : 0U;
  return static_cast<double>(found) / static_cast<double>(probes);
}

TEST_CASE("the false positives of every layout are those of its theory, with the best k", "[no threads]") {
  constexpr std::uint64_t kMembers = kIsSanitized ? 40'000 : 400'000;
  constexpr std::uint64_t kProbes = kIsSanitized ? 40'000 : 2'000'000;
  const Layout layout = GENERATE(from_range(std::begin(kLayouts), std::end(kLayouts)));
  const double bits_per_entry = GENERATE(8, 12, 20);
  if (kIsSanitized && bits_per_entry != 8) return;
  const LayoutRules& rules = layout_rules(layout);
  const std::uint32_t hashes = best_hashes(bits_per_entry, layout, rules.default_block_bytes(1));
  CAPTURE(rules.name(), bits_per_entry, hashes);
  const FilterShape shape = shape_for(layout, hashes, kMembers, bits_per_entry);
  const double want = expected_fpr(kMembers, shape);
  const double sigma = std::sqrt(want * (1 - want) / kProbes);
  const double margin = layout == Layout::line ? 0.05 : 0.02;
  CHECK(std::abs(measure(shape, kMembers, kProbes) - want) < margin * want + 3 * sigma);
}

TEST_CASE("the false positives are those of the theory in every hash family", "[no threads]") {
  constexpr std::uint64_t kMembers = kIsSanitized ? 20'000 : 200'000;
  constexpr std::uint64_t kProbes = kIsSanitized ? 40'000 : 1'000'000;
  const Layout layout = GENERATE(from_range(std::begin(kLayouts), std::end(kLayouts)));
  const HashFamily family = GENERATE(from_range(std::begin(kHashFamilies), std::end(kHashFamilies)));
  CAPTURE(layout_rules(layout).name(), hash_family_name(family));
  FilterShape shape = shape_for(layout, std::min(6U, layout_rules(layout).most_hashes()), kMembers, 8);
  shape.hash_family = family;
  const double want = expected_fpr(kMembers, shape);
  const double sigma = std::sqrt(want * (1 - want) / kProbes);
  CHECK(std::abs(measure(shape, kMembers, kProbes) - want) < 0.005 * want + 4 * sigma);
}

TEST_CASE("the theory of fill and entries agrees with a filter of every layout") {
  constexpr std::uint64_t kMembers = 100'000;
  const Layout layout = GENERATE(from_range(std::begin(kLayoutsOfBits), std::end(kLayoutsOfBits)));
  const std::uint32_t hashes = GENERATE(1U, 6U, 32U);
  CAPTURE(layout_rules(layout).name(), hashes);
  const FilterShape shape = shape_for(layout, hashes, kMembers, hashes * 1.5);
  std::vector<std::byte> body(shape.block_bytes * shape.block_count);
  for (std::uint64_t i = 0; i < kMembers; ++i) insert_key(shape, body, key_of(i));
  CHECK(distinct_entries(FilterView(shape, body).count_ones(), shape) == Approx(kMembers).epsilon(0.01));
}

TEST_CASE("a value's place in the array grows with the value, on which the builder's partitions rest", "[no threads]") {
  const Layout layout = GENERATE(from_range(std::begin(kLayoutsOfBits), std::end(kLayoutsOfBits)));
  const std::uint32_t hashes = GENERATE(1U, 6U, 32U);
  const LayoutRules& rules = layout_rules(layout);
  CAPTURE(rules.name(), hashes);
  const FilterShape shape = shape_for(layout, hashes, 100'000, 8);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < (kIsSanitized ? 100 : 500); ++i) {
    std::vector<std::uint64_t> values(rules.values_per_entry(hashes));
    rules.values_of(shape, key_of(i), values.data());
    all.insert(all.end(), values.begin(), values.end());
  }
  std::ranges::sort(all);
  std::uint64_t last = 0;
  for (const std::uint64_t value : all) {
    std::vector<std::byte> body(shape.block_bytes * shape.block_count);
    rules.set_bits(shape, {body.data()}, {&value, 1});
    const auto byte = std::ranges::find_if(body, [](std::byte b) { return b != std::byte{0}; }) - body.begin();
    // Inside a block the order is free.
    const std::uint64_t place = static_cast<std::uint64_t>(byte) / (rules.value_is_hash() ? shape.block_bytes : 1);
    if (place < last) FAIL("value " << value << " is out of order");
    last = place;
  }
}

TEST_CASE("an entry of the layout partitioned has one bit in each slice") {
  const std::uint32_t hashes = GENERATE(1U, 2U, 5U, 31U, 32U);
  const FilterShape shape = shape_for(Layout::partitioned, hashes, 1000, 10);
  for (std::uint64_t i = 0; i < 100; ++i) {
    std::vector<std::byte> body(shape.block_bytes * shape.block_count);
    insert_key(shape, body, key_of(i));
    for (std::uint32_t slice = 0; slice < hashes; ++slice) {
      unsigned ones = 0;
      for (std::uint64_t bit = 0; bit < 64 * shape.block_count; ++bit) {
        ones += has_bit(body.data(), slice * 64 * shape.block_count + bit) ? 1U : 0U;
      }
      if (ones != 1) FAIL("slice " << slice << " of entry " << i << " has " << ones);
    }
  }
}

// Address space, not memory: only the few pages that hold a bit are ever written.
TEST_CASE("an array of more than 2^32 bits is used to its end, and its bits are found again", "[no threads]") {
  constexpr std::uint64_t kBodyBytes = std::uint64_t{1} << 30;
  const Layout layout = GENERATE(from_range(std::begin(kLayoutsOfBits), std::end(kLayoutsOfBits)));
  if (kIsSanitized && layout != Layout::classic) return;
  CAPTURE(layout_rules(layout).name());
  FilterShape shape = {.layout = layout, .hashes = 8, .seed = 3};
  shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
  shape.block_count = kBodyBytes / shape.block_bytes;
  void* const memory =
      mmap(nullptr, kBodyBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const std::span body(static_cast<std::byte*>(memory), kBodyBytes);
  const FilterView view(shape, body);
  constexpr std::uint64_t kMembers = 64;
  std::uint64_t missing = 0;
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kMembers; ++i) insert_key(shape, body, key_of(i));
  for (std::uint64_t i = 0; i < kMembers; ++i) missing += view.may_contain(key_of(i)) ? 0U : 1U;
  for (std::uint64_t i = kMembers; i < 100'000; ++i) found += view.may_contain(key_of(i)) ? 1U : 0U;
  CHECK(missing == 0);
  CHECK(found == 0);
  const std::uint64_t ones = view.count_ones();
  const std::uint64_t ones_in_front = FilterView(shape, body.first(kBodyBytes / 2)).count_ones();  // 2^32 bits
  munmap(memory, kBodyBytes);
  CHECK(ones > kMembers * shape.hashes - 16);
  CHECK(ones_in_front > ones / 4);
  CHECK(ones_in_front < ones * 3 / 4);
}

TEST_CASE("each layout says which sizes of a block it takes") {
  struct Row {
    Layout layout;
    std::uint32_t block_bytes;
    std::uint32_t hashes;
    bool want;
  };
  const Row row = GENERATE(values<Row>({
      {Layout::page, 4096, 6, true},
      {Layout::page, 8192, 6, true},
      {Layout::page, 1 << 20, 6, true},
      {Layout::page, 1 << 21, 6, false},
      {Layout::page, 2048, 6, false},
      {Layout::page, 6144, 6, false},
      {Layout::page, 0, 6, false},
      {Layout::line, 64, 6, true},
      {Layout::line, 512, 6, true},
      {Layout::line, 32, 6, false},
      {Layout::line, 1024, 6, false},
      {Layout::line, 96, 6, false},
      {Layout::classic, 8, 6, true},
      {Layout::classic, 64, 6, false},
      {Layout::partitioned, 48, 6, true},
      {Layout::partitioned, 8, 1, true},
      {Layout::partitioned, 48, 7, false},
      {Layout::partitioned, 256, 32, true},
  }));
  CAPTURE(layout_rules(row.layout).name(), row.block_bytes, row.hashes);
  CHECK(layout_rules(row.layout).allows_block_bytes(row.block_bytes, row.hashes) == row.want);
}

TEST_CASE("layouts and hash families are found by their names") {
  for (const Layout layout : kLayouts) {
    const Layout* const found = find_layout(layout_rules(layout).name());
    REQUIRE(found != nullptr);
    CHECK(*found == layout);
  }
  for (const HashFamily family : kHashFamilies) CHECK(find_hash_family(hash_family_name(family)) == family);
  // What operators type, and what is written down of a filter.
  const std::string_view layouts[] = {"page", "line", "classic", "partitioned", "ribbon", "counting"};
  for (std::size_t i = 0; i < std::size(kLayouts); ++i) CHECK(layout_rules(kLayouts[i]).name() == layouts[i]);
  const std::string_view families[] = {"xxh3", "murmur3", "fnv1a-murmur3"};
  for (std::size_t i = 0; i < std::size(kHashFamilies); ++i) CHECK(hash_family_name(kHashFamilies[i]) == families[i]);
  CHECK(find_layout("pages") == nullptr);
  CHECK(find_layout(static_cast<Layout>(7)) == nullptr);
  CHECK_FALSE(find_hash_family("md5"));
}

}  // namespace
}  // namespace bloomgate::test
