#include "filter/page_layout.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

namespace bloomgate {
namespace {

using namespace page_layout;

constexpr KeyHash kLargest = std::numeric_limits<KeyHash>::max();

TEST_CASE("the block of a hash is always one of the blocks") {
  const auto block_count = GENERATE(values<std::uint64_t>({1, 2, 3, 1000, 244'141, std::uint64_t{1} << 40, kLargest}));
  CHECK(block_of(0, block_count) == 0);
  CHECK(block_of(kLargest, block_count) == block_count - 1);
  CHECK(block_of(kLargest / 2, block_count) <= block_count / 2);
}

TEST_CASE("blocks grow with the hash, on which the builder's partitions rest") {
  std::uint64_t last = 0;
  for (KeyHash hash = 0; hash < kLargest - (kLargest / 1000); hash += kLargest / 1000) {
    const std::uint64_t block = block_of(hash, 12'345);
    CHECK(block >= last);
    last = block;
  }
}

// Part of the file format, as the hash is.
TEST_CASE("the probes of a hash are frozen") {
  Probes probes(0x0123456789abcdef);
  const std::array<std::uint32_t, 8> want = {22271, 17043, 16717, 3370, 15614, 22746, 4274, 10053};
  for (const std::uint32_t bit : want) CHECK(probes.next() == bit);
}

TEST_CASE("an inserted hash is found, and sets at most k bits of its own block") {
  const auto hashes = GENERATE(1U, 6U, 32U);
  std::vector<std::byte> block(kBlockBytes);
  const KeyHash hash = 0x9e3779b97f4a7c15;
  CHECK_FALSE(may_contain(block.data(), hash, hashes));
  insert(block.data(), hash, hashes);
  CHECK(may_contain(block.data(), hash, hashes));
  std::uint32_t ones = 0;
  for (const std::byte byte : block) ones += static_cast<std::uint32_t>(std::popcount(std::to_integer<unsigned>(byte)));
  CHECK(ones <= hashes);
  CHECK(ones >= 1);
}

TEST_CASE("a hash is not found when any one of its bits is missing") {
  std::vector<std::byte> block(kBlockBytes);
  const KeyHash hash = 0x9e3779b97f4a7c15;
  insert(block.data(), hash, 6);
  Probes probes(hash);
  for (int i = 0; i < 6; ++i) {
    const std::uint32_t bit = probes.next();
    auto damaged = block;
    damaged[bit / 8] &= ~(std::byte{1} << (bit % 8));
    CHECK_FALSE(may_contain(damaged.data(), hash, 6));
  }
}

}  // namespace
}  // namespace bloomgate
