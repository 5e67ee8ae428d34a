// What the rules of each layout say, held against each other and against the bits that they set.
#include "filter/layout/layout_rules.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "filter/layout/filter_view.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/ribbon_rate.hpp"
#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

using Values = std::vector<std::uint64_t>;

// Of some blocks, the size of which is the layout's own.
FilterShape shape_of(Layout layout, std::uint64_t blocks = 7) {
  FilterShape shape = {.layout = layout, .block_count = blocks, .seed = 5};
  shape.hashes = std::min(3U, layout_rules(layout).most_hashes());
  shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
  return shape;
}

std::string key_of(unsigned number) {
  return "user" + std::to_string(number) + "@example.org";
}

Values values_of(const FilterShape& shape, unsigned number) {
  Values values(layout_rules(shape.layout).values_per_entry(shape.hashes));
  layout_rules(shape.layout).values_of(shape, key_of(number), values.data());
  return values;
}

// The values of so many entries, by the bytes that they belong to.
std::map<std::pair<std::uint64_t, std::uint64_t>, Values> values_by_bytes(const FilterShape& shape, unsigned entries) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, Values> sorted;
  for (unsigned i = 0; i < entries; ++i) {
    for (const std::uint64_t value : values_of(shape, i)) {
      const ByteRange bytes = layout_rules(shape.layout).bytes_of(shape, value);
      sorted[{bytes.begin, bytes.end}].push_back(value);
    }
  }
  return sorted;
}

TEST_CASE("values change only the bytes of their range, in an array and in a part of one") {
  const Layout layout = GENERATE(from_range(std::begin(kLayouts), std::end(kLayouts)));
  const LayoutRules& rules = layout_rules(layout);
  CAPTURE(rules.name());
  const FilterShape shape = shape_of(layout);
  std::vector<std::byte> whole(body_bytes(shape));
  for (const auto& [bytes, values] : values_by_bytes(shape, 500)) {
    const auto [begin, end] = bytes;
    REQUIRE(begin < end);
    REQUIRE(end <= whole.size());
    std::vector<std::byte> alone(whole.size());
    rules.set_bits(shape, {alone.data()}, values);
    const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
    if (std::any_of(alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(begin), is_set))
      FAIL("before " << begin);
    if (std::any_of(alone.begin() + static_cast<std::ptrdiff_t>(end), alone.end(), is_set)) FAIL("behind " << end);
    // Exactly as long as the part, for AddressSanitizer.
    std::vector<std::byte> part(end - begin);
    rules.set_bits(shape, {part.data(), begin}, values);
    if (!std::ranges::equal(part, std::span(alone).subspan(begin, end - begin))) FAIL("the part at " << begin);
    rules.set_bits(shape, {whole.data()}, values);
  }
  // In all of them together each entry is found.
  for (unsigned i = 0; i < 500; ++i) {
    const Values values = values_of(shape, i);
    if (!rules.has_bits(shape, whole.data(), values.data())) FAIL(key_of(i));
  }
  // In an empty array nobody is.
  const std::vector<std::byte> empty(whole.size());
  CHECK_FALSE(rules.has_bits(shape, empty.data(), values_of(shape, 1).data()));
}

TEST_CASE("without values no bit is set") {
  for (const Layout layout : kLayouts) {
    const FilterShape shape = shape_of(layout);
    std::vector<std::byte> body(body_bytes(shape), std::byte{0x5a});
    layout_rules(layout).set_bits(shape, {body.data()}, {});
    CHECK(body == std::vector<std::byte>(body.size(), std::byte{0x5a}));
  }
}

TEST_CASE("an entry is not found if any one of its bits is not set") {
  for (const Layout layout : {Layout::page, Layout::line, Layout::classic, Layout::partitioned}) {
    const LayoutRules& rules = layout_rules(layout);
    CAPTURE(rules.name());
    const FilterShape shape = shape_of(layout);
    for (unsigned i = 0; i < 100; ++i) {
      std::vector<std::byte> body(body_bytes(shape));
      const Values values = values_of(shape, i);
      rules.set_bits(shape, {body.data()}, values);
      std::uint64_t bits = 0;
      for (std::byte& byte : body) {
        for (unsigned bit = 0; bit < 8; ++bit) {
          const std::byte before = byte;
          byte &= ~(std::byte{1} << bit);
          if (byte == before) continue;
          ++bits;
          if (rules.has_bits(shape, body.data(), values.data())) FAIL(key_of(i) << " without a bit");
          byte = before;
        }
      }
      CHECK(bits >= 1);
      CHECK(bits <= rules.most_bits_of_entry(shape));
    }
  }
}

TEST_CASE("a key that is put into an empty array sets no more bits than an entry has, and is found", "[no threads]") {
  for (const Layout layout : {Layout::page, Layout::line, Layout::classic, Layout::partitioned}) {
    const FilterShape shape = shape_of(layout, 1000);
    CAPTURE(layout_rules(layout).name());
    for (unsigned i = 0; i < 100; ++i) {
      std::vector<std::byte> body(body_bytes(shape));
      insert_key(shape, body, key_of(i));
      CHECK(FilterView(shape, body).count_ones() <= shape.hashes);
      CHECK(FilterView(shape, body).may_contain(key_of(i)));
    }
  }
}

TEST_CASE("if the value of an entry is its hash, it is that of the filter's hash family and seed") {
  for (const Layout layout : {Layout::page, Layout::line, Layout::ribbon}) {
    CHECK(layout_rules(layout).value_is_hash());
    for (const HashFamily family : kHashFamilies) {
      FilterShape shape = shape_of(layout);
      shape.hash_family = family;
      CHECK(values_of(shape, 1) == Values{hash_key(key_of(1), 5, family)});
    }
  }
  for (const Layout layout : {Layout::classic, Layout::partitioned}) {
    CHECK_FALSE(layout_rules(layout).value_is_hash());
    const FilterShape shape = shape_of(layout);
    CHECK(values_of(shape, 1).size() == shape.hashes);
    for (const HashFamily family : {HashFamily::murmur3, HashFamily::fnv1a_murmur3}) {
      FilterShape other = shape;
      other.hash_family = family;
      CHECK(values_of(other, 1) != values_of(shape, 1));
    }
    FilterShape other = shape;
    other.seed = 6;
    CHECK(values_of(other, 1) != values_of(shape, 1));
  }
}

TEST_CASE("the parts of an array are those that its layout has, and all of it") {
  struct Row {
    Layout layout;
    std::uint64_t count;
    std::string_view name;
  };
  for (const auto& [layout, count, name] : std::vector<Row>{{Layout::page, 7, "blocks"},
                                                            {Layout::line, 7, "blocks"},
                                                            {Layout::classic, 1, "array"},
                                                            {Layout::partitioned, 3, "slices"},
                                                            {Layout::ribbon, 7, "blocks"},
                                                            {Layout::counting, 7, "blocks"}}) {
    const FilterShape shape = shape_of(layout);
    const LayoutParts parts = layout_rules(layout).parts(shape);
    CAPTURE(layout_rules(layout).name());
    CHECK(parts.count == count);
    CHECK(parts.name == name);
    CHECK(parts.count * parts.bytes == body_bytes(shape));
  }
}

TEST_CASE("each layout says in words which sizes of a block it takes, and takes its own") {
  for (const Layout layout : kLayouts) {
    const LayoutRules& rules = layout_rules(layout);
    for (const std::uint32_t hashes : {1U, rules.most_hashes()}) {
      CAPTURE(rules.name(), hashes);
      CHECK(rules.allows_block_bytes(rules.default_block_bytes(hashes), hashes));
      CHECK_THAT(rules.block_bytes_rule(hashes), Contains(std::to_string(rules.default_block_bytes(hashes))));
      CHECK_FALSE(rules.allows_block_bytes(0, hashes));
      CHECK_FALSE(rules.allows_block_bytes(rules.default_block_bytes(hashes) + 1, hashes));
      // Others are allowed exactly where they can be chosen.
      CHECK(rules.allows_block_bytes(2 * rules.default_block_bytes(hashes), hashes) ==
            rules.block_bytes_can_be_chosen());
    }
  }
  CHECK(layout_rules(Layout::ribbon).most_hashes() == 1);
  CHECK(layout_rules(Layout::page).most_hashes() == kMaxHashes);
}

TEST_CASE("the ones of a ribbon say nothing about its entries, and its rate is that of its blocks") {
  const FilterShape shape = shape_of(Layout::ribbon, 3);
  CHECK(std::isnan(distinct_entries(1000, shape)));
  CHECK(fpr_from_fill(1000, shape) == 1);
  CHECK(expected_fpr(12'000, shape) == ribbon_fpr(12'000, 3));
  CHECK(expected_fpr(12'000, shape) > 0.001);
  CHECK(layout_rules(Layout::ribbon).needs_whole_blocks());
  CHECK(layout_rules(Layout::ribbon).most_bits_of_entry(shape) == 8 * 4096);
}

TEST_CASE(
    "ribbon and counting are made block by block, and a store needs a layout with one hash per entry and no counters") {
  struct Row {
    Layout layout;
    bool made_by_blocks;
    bool can_have_store;
  };
  for (const auto& [layout, made_by_blocks, can_have_store] : {Row{Layout::page, false, true},
                                                               {Layout::line, false, true},
                                                               {Layout::classic, false, false},
                                                               {Layout::partitioned, false, false},
                                                               {Layout::ribbon, true, true},
                                                               {Layout::counting, true, false}}) {
    const LayoutRules& rules = layout_rules(layout);
    CAPTURE(rules.name());
    CHECK(rules.is_made_by_blocks() == made_by_blocks);
    CHECK(rules.can_have_store() == can_have_store);
    CHECK(rules.why_no_strangers().empty() == (layout != Layout::counting));
  }
}

TEST_CASE("the number of entries follows from the fill, from one entry on") {
  for (const Layout layout : {Layout::page, Layout::line, Layout::classic, Layout::partitioned}) {
    const LayoutRules& rules = layout_rules(layout);
    const FilterShape shape = shape_of(layout, 1'000'000);
    CAPTURE(rules.name());
    const double bits = 8 * static_cast<double>(body_bytes(shape));
    // So few entries that no two meet; the bits of one meet seldom, in the smallest block too.
    for (const double entries : {1.0, 100.0}) {
      CHECK(rules.entries_of_fill(shape, entries * shape.hashes / bits) == Approx(entries).epsilon(0.01));
    }
    CHECK(std::isinf(rules.entries_of_fill(shape, 1)));
    CHECK(rules.false_positive_rate(shape, bits / 8) ==
          Approx(std::pow(1 - std::exp(-3.0 / 8), 3)).epsilon(layout == Layout::line ? 0.1 : 0.005));
  }
}

}  // namespace
}  // namespace bloomgate::test
