#include "filter/mpi/own_bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/base/even_share.hpp"
#include "filter/base/parallel.hpp"
#include "filter/engine/partition_bits.hpp"
#include "filter/engine/store_build.hpp"

namespace bloomgate::mpi {
OwnBits::OwnBits(const FilterShape& shape, const SharedArray& array, unsigned rank, unsigned threads,
                 std::uint64_t memory_bytes, std::string scratch_folder)
    : shape_(shape),
      hashes_(array.hashes_of(rank)),
      stored_hashes_(array.stored_hashes_of(rank)),
      begin_(array.blocks_of(rank).first * shape.block_bytes),
      bytes_(array.blocks_of(rank).count * shape.block_bytes),
      threads_(threads),
      memory_(std::max<std::uint64_t>(bytes_, 1), "this rank's part of the bit array; run with more ranks"),
      partitions_(HashPartitions::bits_for(body_bytes(shape)), threads,
                  std::max(memory_bytes, least_hash_bytes(threads))),
      scratch_folder_(std::move(scratch_folder)) {
  if (layout_rules(shape.layout).is_made_by_blocks()) block_maker_ = std::make_unique<BlockMaker>(shape);
}

OwnBits::~OwnBits() = default;

void OwnBits::take(std::span<const KeyHash> hashes) {
  // The bit of a hash of another rank would be outside of the memory.
  const bool all_own = std::ranges::all_of(hashes, [this](KeyHash stored) {
    return shape_.store_seed ? stored_hashes_.has(stored) || hashes_.has(mix_hash(stored, shape_.seed))
                             : hashes_.has(stored);
  });
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
  if (block_maker_ || store_ != nullptr) {
    if (!spill_) spill_ = std::make_unique<HashSpill>(scratch_folder_, partitions_.partition_count());
    return spill_->take(partitions_, threads_);
  }
  make_bits(0, partitions_.partition_count());
  partitions_.clear();
}

// In the form in which they were added.
template <typename Visit>
void OwnBits::for_each_run(std::size_t partition, Visit visit) const {
  if (spill_) spill_->for_each_run(partition, visit);
  partitions_.for_each_run(partition, visit);
}

// The hashes of this rank's bits, in the form that the bits need.
template <typename Visit>
void OwnBits::for_each_own_run(std::size_t partition, Visit visit) const {
  const auto visit_and_note = [&](std::span<const KeyHash> run) {
    visit(run);
    if (strangers_ != nullptr) strangers_->note_entries(run);
  };
  if (!shape_.store_seed) return for_each_run(partition, visit_and_note);
  std::array<KeyHash, 1024> mixed;  // stays in the smallest cache
  for_each_run(partition, [&](std::span<const KeyHash> run) {
    for (; !run.empty(); run = run.subspan(std::min(run.size(), mixed.size()))) {
      const auto piece = run.first(std::min(run.size(), mixed.size()));
      mix_hashes(piece, shape_.seed, mixed.data());
      const auto end = std::remove_if(mixed.begin(), mixed.begin() + piece.size(),
                                      [this](KeyHash hash) { return !hashes_.has(hash); });
      visit_and_note(std::span<const KeyHash>(mixed.begin(), end));
    }
  });
}

void OwnBits::make_bits(std::size_t first, std::size_t end) {
  const auto each_run = [this](std::size_t partition, auto visit) { for_each_own_run(partition, visit); };
  if (block_maker_) {
    make_partition_blocks(shape_, *block_maker_, part(), partitions_, first, end, threads_, each_run);
  } else {
    set_partition_bits(shape_, part(), partitions_, first, end, threads_, each_run);
  }
}

// Reads each partition once, for the bits and for the store.
void OwnBits::finish() {
  const std::size_t count = partitions_.partition_count();
  if (store_ == nullptr) {
    make_bits(0, count);
  } else {
    constexpr std::size_t kAtOnce = 16;
    StoreBuild sorted([this](std::span<const KeyHash> hashes) { store_->add(hashes); },
                      static_cast<unsigned>(std::countr_zero(count)), threads_);
    for (std::size_t first = 0; first < count; first += kAtOnce) {
      const std::size_t end = std::min(first + kAtOnce, count);
      make_bits(first, end);
      sorted.take(first, end, [this](std::size_t partition, std::vector<KeyHash>& hashes) {
        for_each_run(partition, [&](std::span<const KeyHash> run) {
          std::ranges::copy_if(run, std::back_inserter(hashes),
                               [this](KeyHash stored) { return stored_hashes_.has(stored); });
        });
      });
    }
  }
  if (strangers_ != nullptr) strangers_->note_bits(shape_, {memory_.bytes().data(), begin_}, begin_ + bytes_);
}

}  // namespace bloomgate::mpi
