// Hashes for a file that keeps them in ascending order: several threads gather them, they go to disk when memory is
// full, and they are read out sorted. Used by the builder for domain entries, and by an update for all changes.
//
// They are sorted as the builder sorts the hashes of addresses (hash_partitions.hpp): by their high bits first. So each
// partition can be sorted by itself, and the sequence of the partitions is in order.
//
// Lanes are for worker threads: one thread at a time may use a lane, and different threads may use different lanes at
// once. Everything else needs all lanes to be unused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "filter/gather/hash_partitions.hpp"
#include "filter/gather/hash_spill.hpp"
#include "filter/gather/sort_hashes.hpp"

namespace bloomgate {

class GatheredHashes {
 public:
  // `memory_bytes` is for the hashes of all lanes. Throws BloomgateError{out_of_memory}.
  GatheredHashes(unsigned lanes, std::uint64_t memory_bytes, std::string scratch_folder);

  HashPartitions::Lane& lane(unsigned index) noexcept { return partitions_.lane(index); }

  // Whether every lane can take `hashes` more before a spill(). Safe from any thread.
  bool has_room_for(std::uint64_t hashes) const noexcept { return partitions_.has_room_for(hashes); }

  // Makes room, in a temporary file. Throws BloomgateError{cannot_write}.
  void spill(unsigned threads);

  // The same for hashes that mostly are there many times: removes duplicates in memory. Writes the rest to disk if it
  // still fills half of the memory, or leaves no room for `hashes` more in each lane. Throws
  // BloomgateError{cannot_write}, std::bad_alloc.
  void make_room_by_uniting(unsigned threads, std::uint64_t hashes);
  // If all hashes are in memory, removes duplicates and leaves them in order, so that for_each_once() need not sort
  // them each time. Throws std::bad_alloc.
  void unite_in_memory(unsigned threads);
  bool has_spilled() const noexcept { return spill_ != nullptr; }

  // Bytes that went through the temporary file.
  std::uint64_t spilled_bytes() const noexcept { return spill_ ? spill_->bytes() : 0; }

  // Hashes are read out by parts of their range, each of which begins where the one before it ends. The parts are few
  // enough that a lane's lines, and their targets in memory, stay in the first caches of a core. They are many enough
  // that, of 10^7 hashes, a partition is sorted in the cache.
  static constexpr unsigned kPartitionBits = 8;
  static constexpr std::size_t partition_count() noexcept { return std::size_t{1} << kPartitionBits; }
  static constexpr std::size_t partition_of(KeyHash hash) noexcept { return hash >> (64 - kPartitionBits); }
  static constexpr KeyHash first_hash(std::size_t partition) noexcept {
    return KeyHash{partition} << (64 - kPartitionBits);
  }
  static constexpr KeyHash last_hash(std::size_t partition) noexcept {
    return first_hash(partition) | ~KeyHash{0} >> kPartitionBits;
  }

  // The hashes of a partition in ascending order, each once. Safe from several threads. Throws
  // BloomgateError{cannot_read}.
  std::vector<KeyHash> sorted_once(std::size_t partition) const;

  // Calls `use` with runs of all hashes, in ascending order; duplicates follow each other. Up to `threads` threads sort
  // ahead. Throws what `use` throws and BloomgateError{cannot_read}.
  void for_each_sorted(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const;
  // The same with each once. Takes little time after unite_in_memory(), if nothing was spilled.
  void for_each_once(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const;

 private:
  // The buffers of one thread.
  struct Scratch {
    std::vector<KeyHash> gathered;
    HashSorter sorter;
  };
  using Sort = void (GatheredHashes::*)(std::size_t partition, Scratch& scratch, std::vector<KeyHash>& sorted) const;
  // Numbers of hashes before and after duplicates were removed.
  struct Left {
    std::uint64_t before;
    std::uint64_t after;
  };

  template <typename Way>
  Left unite_partitions(unsigned threads);
  void append_in_memory(std::size_t partition, std::vector<KeyHash>& hashes) const;
  void gather(std::size_t partition, std::vector<KeyHash>& hashes) const;
  std::uint64_t bytes_of_partition() const;
  void sort(std::size_t partition, Scratch& scratch, std::vector<KeyHash>& sorted) const;
  void sort_once(std::size_t partition, Scratch& scratch, std::vector<KeyHash>& sorted) const;
  void for_each_partition(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use,
                          Sort sort_into) const;

  std::string scratch_folder_;
  std::uint64_t memory_bytes_;
  HashPartitions partitions_;
  std::unique_ptr<HashSpill> spill_;
  std::uint64_t united_ = 0;       // hashes in memory that were left when room was made
  bool mostly_different_ = false;  // removing duplicates saved too little
};

}  // namespace bloomgate
