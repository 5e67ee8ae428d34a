#include "filter/mpi/own_bits.hpp"

#include <algorithm>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/even_share.hpp"
#include "filter/base/parallel.hpp"
#include "filter/build/partition_bits.hpp"

namespace bloomgate::mpi {
namespace {

// For kEntriesAtOnce of each lane, and a quarter more, since each lane has a started chunk in each partition.
std::uint64_t least_memory(unsigned threads) noexcept {
  return std::uint64_t{threads} * kEntriesAtOnce * sizeof(KeyHash) * 5 / 4;
}

}  // namespace

OwnBits::OwnBits(const FilterShape& shape, const SharedArray& array, unsigned rank, unsigned threads,
                 std::uint64_t memory_bytes, std::string scratch_folder)
    : shape_(shape),
      hashes_(array.hashes_of(rank)),
      begin_(array.blocks_of(rank).first * shape.block_bytes),
      bytes_(array.blocks_of(rank).count * shape.block_bytes),
      threads_(threads),
      memory_(std::max<std::uint64_t>(bytes_, 1), "this rank's part of the bit array; run with more ranks"),
      partitions_(HashPartitions::bits_for(body_bytes(shape)), threads, std::max(memory_bytes, least_memory(threads))),
      scratch_folder_(std::move(scratch_folder)) {
  if (layout_rules(shape.layout).is_made_by_blocks()) block_maker_ = std::make_unique<BlockMaker>(shape);
}

OwnBits::~OwnBits() = default;

void OwnBits::take(std::span<const KeyHash> hashes) {
  // A bit of another hash would be set outside of the memory.
  const bool all_own = std::ranges::all_of(hashes, [this](KeyHash hash) { return hashes_.has(hash); });
  if (!all_own || (bytes_ == 0 && !hashes.empty())) {
    throw BloomgateError(ErrorCode::bad_argument, "a rank was sent hashes of another rank");
  }
  while (!hashes.empty()) {
    if (!partitions_.has_room_for(kEntriesAtOnce)) make_room();
    const auto piece = hashes.first(std::min<std::size_t>(hashes.size(), kEntriesAtOnce * threads_));
    run_parallel(threads_, [&](unsigned index) {
      HashPartitions::Lane& lane = partitions_.lane(index);
      const std::size_t begin = begin_of_share(piece.size(), index, threads_);
      const std::size_t end = begin_of_share(piece.size(), index + 1, threads_);
      for (const KeyHash hash : piece.subspan(begin, end - begin)) lane.add(hash);
      lane.settle();
    });
    hashes = hashes.subspan(piece.size());
  }
}

void OwnBits::make_room() {
  if (!block_maker_) return set_bits();
  if (!spill_) spill_ = std::make_unique<HashSpill>(scratch_folder_, partitions_.partition_count());
  spill_->take(partitions_, threads_);
}

template <typename Visit>
void OwnBits::for_each_run(std::size_t partition, Visit visit) const {
  const auto visit_and_note = [&](std::span<const KeyHash> run) {
    visit(run);
    if (strangers_ != nullptr) strangers_->note_entries(run);
  };
  if (spill_) spill_->for_each_run(partition, visit_and_note);
  partitions_.for_each_run(partition, visit_and_note);
}

void OwnBits::set_bits() {
  set_partition_bits(shape_, part(), partitions_, 0, partitions_.partition_count(), threads_,
                     [this](std::size_t partition, auto visit) { for_each_run(partition, visit); });
  partitions_.clear();
}

void OwnBits::finish() {
  if (block_maker_) {
    make_partition_blocks(shape_, *block_maker_, part(), partitions_, 0, partitions_.partition_count(), threads_,
                          [this](std::size_t partition, auto visit) { for_each_run(partition, visit); });
  } else {
    set_bits();
  }
  if (strangers_ != nullptr) strangers_->note_bits(shape_, {memory_.bytes().data(), begin_}, begin_ + bytes_);
}

}  // namespace bloomgate::mpi
