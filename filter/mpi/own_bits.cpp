#include "filter/mpi/own_bits.hpp"

#include <algorithm>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate::mpi {

OwnBits::OwnBits(const FilterShape& shape, const SharedArray& array, unsigned rank, unsigned threads,
                 std::uint64_t memory_bytes)
    : shape_(shape),
      hashes_(array.hashes_of(rank)),
      begin_(array.blocks_of(rank).first * shape.block_bytes),
      bytes_(array.blocks_of(rank).count * shape.block_bytes),
      threads_(threads),
      memory_(std::max<std::uint64_t>(bytes_, 1), "this rank's part of the bit array; run with more ranks"),
      partitions_(HashPartitions::bits_for(body_bytes(shape)), threads, memory_bytes) {}

void OwnBits::take(std::span<const KeyHash> hashes) {
  // A bit of another hash would be set outside of the memory.
  const bool all_own = std::ranges::all_of(hashes, [this](KeyHash hash) { return hashes_.has(hash); });
  if (!all_own || (bytes_ == 0 && !hashes.empty())) {
    throw BloomgateError(ErrorCode::bad_argument, "a rank was sent hashes of another rank");
  }
  while (!hashes.empty()) {
    if (!partitions_.has_room_for(kEntriesAtOnce)) set_bits();
    const auto piece = hashes.first(std::min<std::size_t>(hashes.size(), kEntriesAtOnce * threads_));
    run_parallel(threads_, [&](unsigned index) {
      HashPartitions::Lane& lane = partitions_.lane(index);
      const std::size_t begin = piece.size() * index / threads_;
      const std::size_t end = piece.size() * (index + 1) / threads_;
      for (const KeyHash hash : piece.subspan(begin, end - begin)) lane.add(hash);
      lane.settle();
    });
    hashes = hashes.subspan(piece.size());
  }
}

void OwnBits::finish() {
  set_bits();
}

void OwnBits::set_bits() {
  const LayoutRules& rules = layout_rules(shape_.layout);
  const BodyPart part = {memory_.bytes().data(), begin_};
  // As in FilterBuilder: where there are more partitions than blocks, even partitions two apart may share a block; else
  // only neighbours do, which are never worked on at once.
  const unsigned threads = partitions_.partition_count() > shape_.block_count ? 1 : threads_;
  for (const std::size_t odd : {std::size_t{0}, std::size_t{1}}) {
    for_each_parallel(threads, (partitions_.partition_count() + 1 - odd) / 2, [&](std::size_t i) {
      partitions_.for_each_run(2 * i + odd, [&](std::span<const KeyHash> run) { rules.set_bits(shape_, part, run); });
    });
  }
  partitions_.clear();
}

}  // namespace bloomgate::mpi
