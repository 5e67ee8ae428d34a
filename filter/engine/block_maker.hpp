// Makes the blocks of layouts that need all entries of a block at once (LayoutRules::is_made_by_blocks), from hashes
// that are sorted into partitions. A partition's first and last block may have entries in its neighbours; their hashes
// are kept until the last of these partitions has been taken.
//
// Used by FilterBuilder. Different threads may take different partitions at once; finish() is for one thread, while no
// other thread takes a partition.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "filter/layout/layout.hpp"

namespace bloomgate {

class BlockMaker {
 public:
  // `shape` must already have its number of blocks.
  explicit BlockMaker(const FilterShape& shape) noexcept
      : shape_(shape), rules_(&layout_rules(shape.layout)), bytes_of_block_(rules_->parts(shape).bytes) {}

  // Adds all hashes of a partition, from `first` up to and including `last`. Makes the blocks that lie within it.
  void take(BodyPart part, KeyHash first, KeyHash last, std::span<const KeyHash> hashes);

  // Makes the kept blocks that begin before `end_block`, with `threads` threads.
  void finish(BodyPart part, std::uint64_t end_block, unsigned threads);

  std::uint64_t block_of(KeyHash hash) const noexcept;

  // In layouts that count entries: how many different entries the finished blocks have.
  std::uint64_t counted() const noexcept { return counted_; }

 private:
  void make(BodyPart part, std::span<KeyHash> hashes);

  FilterShape shape_;
  const LayoutRules* rules_;
  std::uint64_t bytes_of_block_;
  std::atomic<std::uint64_t> counted_{0};
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<KeyHash>> shared_;  // hashes of blocks that several partitions may share
};

}  // namespace bloomgate
