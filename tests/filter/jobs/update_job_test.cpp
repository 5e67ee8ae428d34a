// The bits per entry of a filter that is there: those that it was asked to have, so that one made like it has its size.
#include "filter/jobs/update_job.hpp"

#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

FilterHeader sized_for(std::uint64_t entries, double bits, std::uint32_t block_bytes) {
  FilterHeader header;
  header.shape.block_bytes = block_bytes;
  header.shape.block_count = blocks_for(entries, bits, block_bytes);
  header.expected_entries = entries;
  return header;
}

TEST_CASE("the bits per entry of a filter follow from its size") {
  const double bits = GENERATE(1.0, 5.0, 7.5, 8.0, 9.6, 12.0, 16.0, 33.0, 64.0);
  const auto entries = GENERATE(std::uint64_t{200'000}, std::uint64_t{999'999'937});
  const auto block_bytes = GENERATE(64U, 4096U);
  CAPTURE(bits, entries, block_bytes);
  CHECK(bits_per_entry_of(sized_for(entries, bits, block_bytes)) == Approx(bits));
}

TEST_CASE("a filter made in the shape of another has as many blocks, however few its entries are") {
  const double bits = GENERATE(1.0, 3.3, 8.0, 11.7, 64.0);
  const auto entries = GENERATE(std::uint64_t{1}, std::uint64_t{37}, std::uint64_t{1000}, std::uint64_t{4097});
  CAPTURE(bits, entries);
  const FilterHeader header = sized_for(entries, bits, 4096);
  CHECK(blocks_for(entries, bits_per_entry_of(header), 4096) == header.shape.block_count);
}

TEST_CASE("a filter of one block has the usual bits per entry, since any number would fit") {
  CHECK(bits_per_entry_of(sized_for(10, 64, 4096)) == 8);
  CHECK(bits_per_entry_of(sized_for(1000, 1, 4096)) == 8);
}

TEST_CASE("a filter without entries, or of an odd size, has bits per entry within the limits") {
  FilterHeader header = sized_for(1, 1, 4096);
  header.expected_entries = 0;
  CHECK(bits_per_entry_of(header) == 8);
  header.shape.block_count = 1'000'000;
  CHECK(bits_per_entry_of(header) == 64);
  header.expected_entries = std::uint64_t{1} << 50;
  CHECK(bits_per_entry_of(header) == 1);
}

}  // namespace
}  // namespace bloomgate
