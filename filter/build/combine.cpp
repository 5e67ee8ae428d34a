#include "filter/build/combine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
namespace {

[[noreturn]] void refuse(const MappedFilter& a, const MappedFilter& b, const std::string& what,
                         const std::string& got_a, const std::string& got_b) {
  throw BloomgateError(ErrorCode::bad_argument,
                       a.path() + " and " + b.path() + " cannot be combined: they differ in " + what + " (" + got_a +
                           " and " + got_b +
                           "); build both with the same --expected-entries, --bits-per-entry, "
                           "--hashes, --seed, --keep-case and --tag-separators",
                       {b.path(), {}, got_a, got_b});
}

std::string quoted(TagSeparators separators) {
  return separators.none() ? "none" : "'" + separators.text() + "'";
}

template <typename Value>
void require_equal(const MappedFilter& a, const MappedFilter& b, const char* what, Value of_a, Value of_b) {
  if (of_a != of_b) refuse(a, b, what, std::to_string(of_a), std::to_string(of_b));
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

std::span<const std::byte> chunk_of(const MappedFilter& filter, std::uint64_t chunk) noexcept {
  const std::span<const std::byte> body = filter.view().body();
  const std::uint64_t begin = chunk * kChecksumChunkBytes;
  return body.subspan(begin, std::min(kChecksumChunkBytes, body.size() - begin));
}

void combine_into(std::span<std::byte> to, std::span<const std::byte> from, Combination combination) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = combination == Combination::unite ? to[i] | from[i] : to[i] & from[i];
  }
}

// The combination of one chunk of all filters, in `buffer`.
std::span<const std::byte> combined_chunk(std::span<const MappedFilter* const> filters, Combination combination,
                                          std::uint64_t chunk, std::vector<std::byte>& buffer) {
  const std::span<const std::byte> first = chunk_of(*filters.front(), chunk);
  buffer.assign(first.begin(), first.end());
  for (const MappedFilter* filter : filters.subspan(1)) combine_into(buffer, chunk_of(*filter, chunk), combination);
  return buffer;
}

FilterHeader combined_header(std::span<const MappedFilter* const> filters, Combination combination) {
  FilterHeader header = filters.front()->header();
  for (const MappedFilter* filter : filters.subspan(1)) {
    const FilterHeader& other = filter->header();
    header.expected_entries = std::max(header.expected_entries, other.expected_entries);
    header.entries = saturating_sum(header.entries, other.entries);
    if (combination == Combination::unite) {
      header.shape.has_domains |= other.shape.has_domains;
      header.shape.has_domain_trees |= other.shape.has_domain_trees;
    } else {
      header.shape.has_domains &= other.shape.has_domains;
      header.shape.has_domain_trees &= other.shape.has_domain_trees;
    }
  }
  return header;
}

}  // namespace

void require_same_shape(const MappedFilter& a, const MappedFilter& b) {
  const FilterShape& shape_a = a.header().shape;
  const FilterShape& shape_b = b.header().shape;
  require_equal(a, b, "layout", static_cast<std::uint32_t>(shape_a.layout), static_cast<std::uint32_t>(shape_b.layout));
  require_equal(a, b, "hash family", static_cast<std::uint32_t>(shape_a.hash_family),
                static_cast<std::uint32_t>(shape_b.hash_family));
  require_equal(a, b, "number of hashes", shape_a.hashes, shape_b.hashes);
  require_equal(a, b, "size of a block", shape_a.block_bytes, shape_b.block_bytes);
  require_equal(a, b, "number of blocks", shape_a.block_count, shape_b.block_count);
  require_equal(a, b, "seed", shape_a.seed, shape_b.seed);
  require_equal(a, b, "whether the case of local parts is kept", shape_a.profile.keep_local_part_case,
                shape_b.profile.keep_local_part_case);
  const TagSeparators separators_a = shape_a.profile.tag_separators;
  const TagSeparators separators_b = shape_b.profile.tag_separators;
  if (separators_a != separators_b) refuse(a, b, "tag separators", quoted(separators_a), quoted(separators_b));
}

FilterHeader combine_filters(std::span<const MappedFilter* const> filters, Combination combination,
                             const std::string& path, unsigned threads, const std::atomic<bool>& stop) {
  for (const MappedFilter* filter : filters.subspan(1)) require_same_shape(*filters.front(), *filter);
  FilterHeader header = combined_header(filters, combination);
  FilterWriter writer(path, header.shape);
  std::atomic<std::uint64_t> bits_set{0};
  for_each_parallel(threads, file_extent(header.shape).chunk_count, [&](std::size_t chunk) {
    if (stop.load(std::memory_order_relaxed)) {
      throw BloomgateError(ErrorCode::interrupted, "stopped before the filter was complete; nothing was changed");
    }
    std::vector<std::byte> buffer;
    const std::span<const std::byte> bytes = combined_chunk(filters, combination, chunk, buffer);
    bits_set += FilterView(header.shape, bytes).count_ones();
    writer.write_body(chunk * kChecksumChunkBytes, bytes);
  });
  for (const MappedFilter* filter : filters) filter->require_whole();
  header.bits_set = bits_set;
  if (combination == Combination::intersect) {
    const double distinct = distinct_entries(header.bits_set, header.shape);
    if (std::isfinite(distinct)) header.entries = static_cast<std::uint64_t>(std::llround(distinct));
  }
  writer.commit(header, threads);
  return header;
}

Overlap estimate_overlap(const MappedFilter& a, const MappedFilter& b, unsigned threads) {
  require_same_shape(a, b);
  const FilterShape& shape = a.header().shape;
  const std::array<const MappedFilter*, 2> filters = {&a, &b};
  std::atomic<std::uint64_t> bits_of_either{0};
  for_each_parallel(threads, file_extent(shape).chunk_count, [&](std::size_t chunk) {
    std::vector<std::byte> buffer;
    const auto bytes = combined_chunk(filters, Combination::unite, chunk, buffer);
    bits_of_either += FilterView(shape, bytes).count_ones();
  });
  for (const MappedFilter* filter : filters) filter->require_whole();
  Overlap overlap = {.a = distinct_entries(a.header().bits_set, shape),
                     .b = distinct_entries(b.header().bits_set, shape),
                     .either = distinct_entries(bits_of_either, shape)};
  overlap.both = std::max(0.0, overlap.a + overlap.b - overlap.either);
  return overlap;
}

}  // namespace bloomgate
