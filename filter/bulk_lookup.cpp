#include "filter/bulk_lookup.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "filter/parallel.hpp"

namespace bloomgate {
namespace {

// Partitions whose part of the array fits into a core's own cache.
unsigned partition_bits_for(std::size_t body_bytes) noexcept {
  constexpr std::size_t kPartBytes = std::size_t{1} << 19;
  constexpr unsigned kMost = 12;  // each lane has 64 bytes for each partition in the cache
  return std::min(kMost, static_cast<unsigned>(std::bit_width(body_bytes / kPartBytes)));
}

}  // namespace

bool BulkLookup::suits(const FilterView& view) noexcept {
  return layout_rules(view.shape().layout).value_is_hash();
}

BulkLookup::BulkLookup(const FilterView& view, unsigned threads, std::uint64_t memory_bytes)
    : view_(view), threads_(threads), partitions_(partition_bits_for(view.body().size()), threads, memory_bytes) {
  for (unsigned i = 0; i < threads; ++i) lanes_.emplace_back(partitions_.lane(i), view.shape());
}

void BulkLookup::look_up() {
  const LayoutRules& rules = layout_rules(view_.shape().layout);
  const FilterShape& shape = view_.shape();
  const std::byte* const body = view_.body().data();
  std::atomic<std::uint64_t> found{0};
  for_each_parallel(threads_, partitions_.partition_count(), [&](std::size_t partition) {
    std::uint64_t found_here = 0;
    partitions_.for_each_run(partition, [&](std::span<const KeyHash> run) {
      for (const KeyHash& hash : run) found_here += rules.has_bits(shape, body, &hash) ? 1U : 0U;
    });
    found += found_here;
  });
  found_ += found;
  partitions_.clear();
}

std::uint64_t BulkLookup::keys() const noexcept {
  std::uint64_t keys = 0;
  for (const Lane& lane : lanes_) keys += lane.keys_;
  return keys;
}

}  // namespace bloomgate
