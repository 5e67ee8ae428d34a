// Counters of four bits, and the entries of the layout counting on them.
#include "filter/layout/counters.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "filter/layout/bits.hpp"
#include "filter/layout/counting_layout.hpp"
#include "filter/layout/filter_view.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr FilterShape kShape = {.layout = Layout::counting, .hashes = 6, .block_bytes = 4096, .block_count = 3};

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST_CASE("a counter counts up to 15 and stays there, and its neighbours do not change") {
  for (const std::uint64_t counter : {0U, 1U, 2U, 5U}) {
    std::vector<std::byte> counters(3, std::byte{0x77});
    while (counter_at(counters.data(), counter) != 0) CHECK(lower_counter(counters.data(), counter));
    CHECK_FALSE(lower_counter(counters.data(), counter));
    for (unsigned count = 0; count < 20; ++count) {
      CHECK(counter_at(counters.data(), counter) == std::min(count, 15U));
      raise_counter(counters.data(), counter);
    }
    // What is saturated no longer tells of how many.
    CHECK(lower_counter(counters.data(), counter));
    for (std::uint64_t i = 0; i < 6; ++i) CHECK(counter_at(counters.data(), i) == (i == counter ? 15U : 7U));
  }
}

TEST_CASE("a counter goes down as it went up while it is below 15") {
  std::byte counters{0};
  for (int i = 0; i < 14; ++i) raise_counter(&counters, 1);
  for (unsigned count = 14; count > 0; --count) {
    CHECK(counter_at(&counters, 1) == count);
    CHECK(lower_counter(&counters, 1));
  }
  CHECK(counters == std::byte{0});
}

TEST_CASE("counters are counted, and become bits, as one by one") {
  std::vector<std::byte> counters = random_bytes(512);
  std::fill_n(counters.begin() + 100, 60, std::byte{0});
  std::vector<std::byte> bits(counters.size() / 4);
  bits_of_counters(counters, bits);
  BodyCounts want;
  for (std::uint64_t i = 0; i < 2 * counters.size(); ++i) {
    want.ones += counter_at(counters.data(), i) != 0 ? 1U : 0U;
    want.saturated += counter_at(counters.data(), i) == 15 ? 1U : 0U;
    if (has_bit(bits.data(), i) != (counter_at(counters.data(), i) != 0)) FAIL("counter " << i);
  }
  const BodyCounts got = count_counters(counters);
  CHECK(got.ones == want.ones);
  CHECK(got.saturated == want.saturated);
  CHECK(FilterView(kShape, counters).count_ones() == want.ones);
  // Each value a counter may have, in each place of a word.
  for (unsigned value = 0; value <= 15; ++value) {
    for (unsigned place = 0; place < 16; ++place) {
      std::vector<std::byte> word(8);
      for (unsigned i = 0; i < value; ++i) raise_counter(word.data(), place);
      CHECK(count_counters(word).ones == (value != 0 ? 1 : 0));
      CHECK(count_counters(word).saturated == (value == 15 ? 1 : 0));
    }
  }
}

TEST_CASE("removing an entry restores the counters from before it was added", "[no threads]") {
  std::vector<std::byte> body(body_bytes(kShape));
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) count_entry(kShape, {body.data()}, random());
  REQUIRE(count_counters(body).saturated == 0);
  for (int i = 0; i < 1000; ++i) {
    const KeyHash hash = random();
    const std::vector<std::byte> before = body;
    count_entry(kShape, {body.data()}, hash);
    CHECK(body != before);
    CHECK(discount_entry(kShape, {body.data()}, hash));
    if (body != before) FAIL("entry " << i);
  }
}

TEST_CASE("removing an entry that was not added changes no counter", "[no threads]") {
  std::vector<std::byte> body(body_bytes(kShape));
  std::mt19937_64 random(3);
  for (int i = 0; i < 9000; ++i) count_entry(kShape, {body.data()}, random());
  const LayoutRules& rules = layout_rules(Layout::counting);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const KeyHash hash = random();
    if (rules.has_bits(kShape, body.data(), &hash)) continue;
    const std::vector<std::byte> before = body;
    CHECK_FALSE(discount_entry(kShape, {body.data()}, hash));
    if (body != before) FAIL("entry " << i);
    ++refused;
  }
  CHECK(refused > 900);
}

// Of 32 probes in a block of 32,768 places two meet once in 66 entries.
TEST_CASE("an entry whose probes meet at one counter is removed as it was added", "[no threads]") {
  FilterShape shape = kShape;
  shape.hashes = 32;
  std::mt19937_64 random(4);
  int met = 0;
  for (int i = 0; i < 2000; ++i) {
    const KeyHash hash = random();
    std::vector<std::byte> body(body_bytes(shape));
    count_entry(shape, {body.data()}, hash);
    met += count_counters(body).ones < 32 ? 1 : 0;
    CHECK(discount_entry(shape, {body.data()}, hash));
    CHECK_FALSE(discount_entry(shape, {body.data()}, hash));
    if (std::ranges::any_of(body, [](std::byte byte) { return byte != std::byte{0}; })) FAIL("entry " << i);
  }
  CHECK(met > 10);
}

TEST_CASE("the counters of the layout counting are above 0 exactly where the layout page sets a bit") {
  const FilterShape page = exported_shape(kShape);
  CHECK(page.layout == Layout::page);
  std::vector<std::byte> counters(body_bytes(kShape));
  std::vector<std::byte> bits(body_bytes(page));
  CHECK(counters.size() == 4 * bits.size());
  std::mt19937_64 random(5);
  for (int i = 0; i < 10'000; ++i) {
    const KeyHash hash = random();
    layout_rules(Layout::counting).set_bits(kShape, {counters.data()}, {&hash, 1});
    layout_rules(Layout::page).set_bits(page, {bits.data()}, {&hash, 1});
  }
  std::vector<std::byte> got(bits.size());
  bits_of_counters(counters, got);
  CHECK(got == bits);
}

}  // namespace
}  // namespace bloomgate
