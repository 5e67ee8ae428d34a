#include "filter/layout/blocked_layout.hpp"

#include <array>
#include <limits>
#include <set>
#include <vector>

#include "filter/layout/filter_view.hpp"
#include "filter/layout/layout.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

constexpr KeyHash kLargest = std::numeric_limits<KeyHash>::max();

TEST_CASE("every value up to 2^64 - 1 is scaled into the range") {
  const auto range = GENERATE(values<std::uint64_t>({1, 2, 3, 1000, 244'141, std::uint64_t{1} << 40, kLargest}));
  CHECK(multiply_high(0, range) == 0);
  CHECK(multiply_high(kLargest, range) == range - 1);
  CHECK(multiply_high(kLargest / 2, range) <= range / 2);
}

TEST_CASE("blocks grow with the hash, on which the builder's partitions rest") {
  std::uint64_t last = 0;
  for (KeyHash hash = 0; hash < kLargest - (kLargest / 1000); hash += kLargest / 1000) {
    const std::uint64_t block = multiply_high(hash, 12'345);
    CHECK(block >= last);
    last = block;
  }
}

// Part of the file format, as the hash is.
TEST_CASE("the probes of a hash are frozen, and those of a smaller block are their high bits") {
  const std::array<std::uint32_t, 8> want = {22271, 17043, 16717, 3370, 15614, 22746, 4274, 10053};
  BlockProbes page(0x0123456789abcdef, 32768);
  BlockProbes line(0x0123456789abcdef, 512);
  for (const std::uint32_t bit : want) {
    CHECK(page.next() == bit);
    CHECK(line.next() == bit / 64);
  }
}

TEST_CASE("the bits of an entry lie in one block, whatever its size and their number", "[no threads]") {
  const auto block_bytes = GENERATE(64U, 128U, 512U, 4096U, 65536U, 1048576U);
  const auto hashes = GENERATE(1U, 3U, 4U, 5U, 6U, 7U, 8U, 11U, 12U, 32U);
  CAPTURE(block_bytes, hashes);
  const FilterShape shape = {.layout = block_bytes < 4096 ? Layout::line : Layout::page,
                             .hashes = hashes,
                             .block_bytes = block_bytes,
                             .block_count = 3,
                             .seed = 1};
  std::vector<std::byte> body(3 * block_bytes);
  insert_key(shape, body, "joe@example.org");
  CHECK(FilterView(shape, body).may_contain("joe@example.org"));
  std::set<std::uint64_t> blocks;
  std::uint32_t ones = 0;
  for (std::uint64_t bit = 0; bit < 8 * body.size(); ++bit) {
    if (!has_bit(body.data(), bit)) continue;
    ++ones;
    blocks.insert(bit / (8 * block_bytes));
  }
  CHECK(blocks.size() == 1);
  CHECK(ones >= 1);
  CHECK(ones <= hashes);
}

}  // namespace
}  // namespace bloomgate
