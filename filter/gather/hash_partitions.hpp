// Sorts hashes into partitions by their high bits, as fast as memory takes them: the first half of building a filter.
//
// The bits of a filter are at random positions in an array that is far larger than the processor's caches. Set one by
// one, each bit would have to wait for memory. So hashes are first gathered by their part of the array (a radix
// partition: in every layout that part grows with the hash, so the high bits are enough; see LayoutRules::values_of).
// Later each part's bits are set while the part is in the cache.
//
// Each worker thread writes through its own lane. A lane collects 64 bytes for each partition and then writes them past
// the caches as one cache line (software write-combining: Satish et al., "Fast sort on CPUs and GPUs", SIGMOD 2010,
// section 4.1). Lanes share a pool of chunks.
//
// Different threads may use different lanes at once; everything else needs all lanes to be unused.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "filter/hash/hash.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {

// The number of entries that every lane of a builder can take at once, however little memory is allowed.
inline constexpr std::uint64_t kEntriesAtOnce = 400'000;
// The bytes for the hashes of so many entries in each lane: a quarter more than the hashes, since each lane has a
// started chunk in each partition.
constexpr std::uint64_t least_hash_bytes(unsigned lanes) noexcept {
  return lanes * kEntriesAtOnce * sizeof(KeyHash) * 5 / 4;
}

class HashPartitions {
 public:
  static constexpr std::size_t kLineHashes = 8;  // a cache line of 64 bytes

  class Lane;

  // The `partition_bits` that suit an array of that size. A partition's part of the array is then at most 64 KiB, if
  // that many partitions are possible, and stays in the smallest caches of a core.
  static unsigned bits_for(std::uint64_t body_bytes) noexcept;

  // `partition_bits` from 0 to 16; `memory_bytes` for the hashes of all lanes (at least minimum_bytes()). Throws
  // BloomgateError{out_of_memory}.
  HashPartitions(unsigned partition_bits, unsigned lanes, std::uint64_t memory_bytes);
  ~HashPartitions();
  HashPartitions(const HashPartitions&) = delete;
  HashPartitions& operator=(const HashPartitions&) = delete;

  std::size_t partition_count() const noexcept { return std::size_t{1} << partition_bits_; }
  // The smallest hash that belongs to the partition; the greatest is one less than that of the next partition.
  KeyHash first_hash(std::size_t partition) const noexcept {
    return partition_bits_ == 0 ? 0 : KeyHash{partition} << (64 - partition_bits_);
  }
  Lane& lane(unsigned index) noexcept;

  // Whether every lane can take `hashes` more, whatever partitions they belong to. Safe from any thread, so that
  // workers can ask before they begin a piece of work with at most that many hashes.
  bool has_room_for(std::uint64_t hashes) const noexcept;

  // Calls `visit` with runs of the partition's hashes, in no particular order. Safe from several threads for different
  // partitions while all lanes are unused.
  template <typename Visit>
  void for_each_run(std::size_t partition, Visit visit) const;

  // Replaces all hashes of the partition by these, which must belong to it; later runs have them in this order. There
  // must be room (has_room_for(0)), or these must be fewer. Safe from several threads for different partitions while
  // all lanes are unused.
  void replace(std::size_t partition, std::span<const KeyHash> hashes);

  // Forgets all hashes; the memory is used again.
  void clear() noexcept;

 private:
  std::uint32_t take_chunk();
  void give_chunks_back(std::span<const std::uint32_t> chunks);
  std::span<const KeyHash> chunk(std::uint32_t index) const noexcept {
    return {pool_ + std::size_t{index} * chunk_hashes_, chunk_hashes_};
  }

  unsigned partition_bits_;
  std::size_t chunk_hashes_;  // a power of two, at least kLineHashes
  std::uint32_t chunk_count_;
  AnonymousMemory memory_;
  KeyHash* pool_;
  std::atomic<std::uint32_t> used_chunks_{0};
  std::mutex mutex_;                 // for the following
  std::uint32_t next_chunk_ = 0;     // the first chunk that was never taken
  std::vector<std::uint32_t> free_;  // chunks that were released
  std::vector<Lane> lanes_;
};

class alignas(64) HashPartitions::Lane {
 public:
  explicit Lane(HashPartitions& owner);

  // As quick as a function call. Throws BloomgateError{out_of_memory} if the pool is empty; ask has_room_for() first.
  [[gnu::always_inline]] void add(KeyHash hash) {
    const std::size_t partition = shift_ < 64 ? hash >> shift_ : 0;
    std::uint8_t& pending = pending_[partition];
    lines_[partition].hashes[pending] = hash;
    if (++pending == kLineHashes) write_line(partition);
  }

  // Makes the added hashes visible to other threads, once they synchronise with this one. The thread that added them
  // calls this when it pauses or ends.
  void settle() noexcept;

 private:
  friend class HashPartitions;

  struct alignas(64) Line {
    KeyHash hashes[kLineHashes];
  };
  // Where a partition's next line goes; at the end of a chunk, and at the beginning, the lane takes a new one.
  struct Slot {
    KeyHash* next = nullptr;
    KeyHash* end = nullptr;
  };

  void write_line(std::size_t partition);
  void clear(std::size_t partition) noexcept;

  HashPartitions* owner_;
  unsigned shift_;
  std::unique_ptr<Line[]> lines_;
  // How many hashes are in each line. Separate from the slots, so that all of these stay in the smallest cache.
  std::unique_ptr<std::uint8_t[]> pending_;
  std::unique_ptr<Slot[]> slots_;
  std::vector<std::vector<std::uint32_t>> chunks_;  // of each partition, in the order in which they were taken
};

inline HashPartitions::Lane& HashPartitions::lane(unsigned index) noexcept {
  return lanes_[index];
}

template <typename Visit>
void HashPartitions::for_each_run(std::size_t partition, Visit visit) const {
  for (const Lane& lane : lanes_) {
    const Lane::Slot& slot = lane.slots_[partition];
    const auto& chunks = lane.chunks_[partition];
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      std::span<const KeyHash> hashes = chunk(chunks[i]);
      if (i + 1 == chunks.size()) hashes = {hashes.data(), slot.next};
      visit(hashes);
    }
    visit(std::span<const KeyHash>(lane.lines_[partition].hashes, lane.pending_[partition]));
  }
}

}  // namespace bloomgate
