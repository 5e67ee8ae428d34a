#include "filter/mpi/shared_array.hpp"

#include <algorithm>

#include "filter/base/error.hpp"
#include "filter/base/even_share.hpp"
#include "filter/file/sections.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate::mpi {

bool SharedArray::suits(Layout layout) noexcept {
  const LayoutRules& rules = layout_rules(layout);
  return rules.value_is_hash() && !rules.has_counters();
}

SharedArray::SharedArray(const FilterShape& shape, unsigned ranks) {
  if (!suits(shape.layout)) {
    throw BloomgateError(ErrorCode::unsupported_layout, "a filter of this layout cannot be shared by ranks");
  }
  if (kChecksumChunkBytes % shape.block_bytes != 0) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "blocks of " + std::to_string(shape.block_bytes) +
                             " bytes cannot be shared by ranks; take a power of two up to a MiB");
  }
  const std::uint64_t blocks_of_chunk = kChecksumChunkBytes / shape.block_bytes;
  const std::uint64_t chunks = (shape.block_count - 1) / blocks_of_chunk + 1;
  const auto owners = static_cast<unsigned>(std::min<std::uint64_t>(ranks, chunks));
  for (unsigned rank = 0; rank < owners; ++rank) {
    const std::uint64_t block = begin_of_share(chunks, rank, owners) * blocks_of_chunk;
    first_blocks_.push_back(block);
    // The least hash whose product with the number of blocks has this number in its upper half.
    first_hashes_.push_back(
        static_cast<KeyHash>(((static_cast<Wide>(block) << 64) + shape.block_count - 1) / shape.block_count));
  }
  first_blocks_.resize(ranks, shape.block_count);
  first_blocks_.push_back(shape.block_count);
}

}  // namespace bloomgate::mpi
