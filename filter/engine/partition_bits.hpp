// From partitions of hashes (hash_partitions.hpp) to the bits of their part of the array, in several threads: the
// second half of building a filter. `for_each_run(partition, visit)` calls `visit` with runs of a partition's hashes,
// wherever they are kept. Several threads call it for different partitions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "filter/base/parallel.hpp"
#include "filter/engine/block_maker.hpp"
#include "filter/gather/hash_partitions.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {

// Sets the bits of the partitions from `first` up to `end`. For layouts that are not made by whole blocks.
template <typename ForEachRun>
void set_partition_bits(const FilterShape& shape, BodyPart part, const HashPartitions& partitions, std::size_t first,
                        std::size_t end, unsigned threads, ForEachRun for_each_run) {
  const LayoutRules& rules = layout_rules(shape.layout);
  // There are more partitions than blocks, so even partitions two apart may share a block.
  if (partitions.partition_count() > shape.block_count) threads = 1;
  // Neighbouring partitions may share a block. If every other one is processed at a time, no two threads touch the same
  // block.
  for (const std::size_t odd : {std::size_t{0}, std::size_t{1}}) {
    for_each_parallel(threads, (end - first + 1 - odd) / 2, [&](std::size_t i) {
      for_each_run(first + 2 * i + odd, [&](std::span<const KeyHash> run) { rules.set_bits(shape, part, run); });
    });
  }
}

// Makes the blocks of the partitions from `first` up to `end`. Those before `first` must have been made before. For
// layouts that need all entries of a block at once.
template <typename ForEachRun>
void make_partition_blocks(const FilterShape& shape, BlockMaker& maker, BodyPart part, const HashPartitions& partitions,
                           std::size_t first, std::size_t end, unsigned threads, ForEachRun for_each_run) {
  const std::size_t count = partitions.partition_count();
  // The first hash after the last partition wraps to 0, so that 1 less is the greatest hash of all.
  const auto first_hash = [&](std::size_t partition) {
    return partition == count ? 0 : partitions.first_hash(partition);
  };
  for_each_parallel(threads, end - first, [&](std::size_t i) {
    const std::size_t partition = first + i;
    std::vector<KeyHash> hashes;
    for_each_run(partition, [&](std::span<const KeyHash> run) { hashes.insert(hashes.end(), run.begin(), run.end()); });
    maker.take(part, first_hash(partition), first_hash(partition + 1) - 1, hashes);
  });
  maker.finish(part, end == count ? shape.block_count : maker.block_of(first_hash(end)), threads);
}

}  // namespace bloomgate
