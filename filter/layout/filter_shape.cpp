#include "filter/layout/filter_shape.hpp"

#include <limits>
#include <string>

#include "filter/base/error.hpp"

namespace bloomgate {

bool has_possible_size(const FilterShape& shape) noexcept {
  constexpr auto kLargestBody = std::numeric_limits<std::uint64_t>::max() / 8;
  return shape.block_bytes != 0 && shape.block_count <= kLargestBody / bits_of_place(shape.layout) / shape.block_bytes;
}

std::uint64_t body_bytes(const FilterShape& shape) {
  if (!has_possible_size(shape)) {
    throw BloomgateError(ErrorCode::size_overflow, "a filter of " + std::to_string(shape.block_count) + " blocks of " +
                                                       std::to_string(shape.block_bytes) +
                                                       " bytes is larger than a file can be");
  }
  return shape.block_count * shape.block_bytes * bits_of_place(shape.layout);
}

}  // namespace bloomgate
