#include "filter/layout/rate_of_bits.hpp"

#include <cmath>
#include <string>

#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/insert_keys.hpp"
#include "tests/support/memory_filter.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("the rate of the bits that are set is the one that is measured, in arrays of any size and with any seed",
          "[no threads]") {
  constexpr std::uint64_t kProbes = 100'000;
  const Layout layout = GENERATE(from_range(std::begin(kLayoutsOfBits), std::end(kLayoutsOfBits)));
  const auto entries = GENERATE(values<std::uint64_t>({5, 20, 50, 200, 2000}));
  for (std::uint64_t seed = 1; seed <= (kIsSanitized ? 2 : 20); ++seed) {
    CAPTURE(layout_rules(layout).name(), entries, seed);
    FilterShape shape = {.layout = layout, .seed = seed};
    shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
    shape.block_count = blocks_for(entries, 8, shape.block_bytes);
    MemoryFilter filter(shape);
    for (std::uint64_t i = 0; i < entries; ++i) filter.insert("user" + std::to_string(i) + "@example.org");
    const FilterView view = filter.view();
    double found = 0;
    for (std::uint64_t i = 0; i < kProbes; ++i) {
      found += view.may_contain(std::to_string(i) + "@not-a-member.invalid") ? 1 : 0;
    }
    const RateOfBits expected = rate_of_bits(view);
    const double deviation = std::sqrt((expected.rate * (1 - expected.rate) + 3.0 / kProbes) / kProbes);
    CHECK(std::abs(found / kProbes - expected.rate) <= 5 * deviation + expected.uncertainty);
  }
}

TEST_CASE("unevenly filled blocks have a higher rate than the total fill suggests") {
  FilterShape shape = {.layout = Layout::line, .hashes = 4, .block_bytes = 64, .block_count = 2};
  std::vector<std::byte> body(128);
  std::fill_n(body.begin(), 64, std::byte{0xff});
  CHECK(rate_of_bits(FilterView(shape, body)).rate == Approx(0.5));
  std::fill(body.begin(), body.end(), std::byte{0x55});
  CHECK(rate_of_bits(FilterView(shape, body)).rate == Approx(1.0 / 16));
}

TEST_CASE("the rate of counters is that of the bits that they replace") {
  const FilterShape shape = {.layout = Layout::counting, .hashes = 4, .block_bytes = 4096, .block_count = 2};
  std::vector<std::byte> body(body_bytes(shape));
  // Of the first block one counter of two, and none of the second.
  std::fill_n(body.begin(), body.size() / 2, std::byte{0x30});
  CHECK(rate_of_bits(FilterView(shape, body)).rate == Approx(1.0 / 32));
  CHECK(rate_of_bits(FilterView(shape, body)).uncertainty == 0);
}

TEST_CASE(
    "the rate of the bits is uncertain by two bits of the array where two hashes make all probes, and nowhere else") {
  for (const Layout layout : kLayouts) {
    CAPTURE(layout_rules(layout).name());
    FilterShape shape = {.layout = layout, .hashes = 1, .block_count = 10};
    shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
    const std::vector<std::byte> body(body_bytes(shape));
    const bool hashes_twice = layout == Layout::classic || layout == Layout::partitioned;
    CHECK(rate_of_bits(FilterView(shape, body)).uncertainty ==
          Approx(hashes_twice ? 2.0 / (8 * static_cast<double>(body.size())) : 0));
    CHECK(rate_of_bits(FilterView(shape, body)).rate == 0);
  }
}

}  // namespace
}  // namespace bloomgate::test
