// Hashes on their way into a file that keeps them in ascending order: gathered by several threads, kept on disk where
// memory is full, and given out sorted. Used by the builder for domain entries, and by an update for all changes.
//
// They are sorted as the builder sorts the hashes of addresses (hash_partitions.hpp): by their high bits first, so that
// each partition can be sorted by itself, and one behind the other they are in order.
//
// Lanes are for worker threads: each lane may be used by one thread at a time, different lanes at once. Everything else
// needs all lanes at rest.
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
  // `memory_bytes` for the hashes of all lanes. Throws BloomgateError{out_of_memory}.
  GatheredHashes(unsigned lanes, std::uint64_t memory_bytes, std::string scratch_folder);

  HashPartitions::Lane& lane(unsigned index) noexcept { return partitions_.lane(index); }

  // Whether every lane can take `hashes` more before a spill(). Safe from any thread.
  bool has_room_for(std::uint64_t hashes) const noexcept { return partitions_.has_room_for(hashes); }

  // Makes room, in a temporary file. Throws BloomgateError{cannot_write}.
  void spill(unsigned threads);

  // The same where most hashes are there many times: leaves each once, in memory. Spills them if they still fill half
  // of it, or leave no room for `hashes` more in each lane. Throws BloomgateError{cannot_write}, std::bad_alloc.
  void make_room_by_uniting(unsigned threads, std::uint64_t hashes);
  // Leaves each once, in order, if all are in memory: so that for_each_once() need not sort them each time. Throws
  // std::bad_alloc.
  void unite_in_memory(unsigned threads);
  bool has_spilled() const noexcept { return spill_ != nullptr; }

  // Bytes that went through the temporary file.
  std::uint64_t spilled_bytes() const noexcept { return spill_ ? spill_->bytes() : 0; }

  // Hashes are given out by parts of their range, of which each begins where the one before it ends.
  // Few enough that a lane's lines, and the places in memory that they go to, stay in the first caches of a core; and
  // enough that of 10^7 hashes a partition is sorted in the cache.
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

  // Calls `use` with runs of the hashes in ascending order, all in all; duplicates come one behind the other. Up to
  // `threads` threads sort ahead. Throws what `use` throws and BloomgateError{cannot_read}.
  void for_each_sorted(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const;
  // The same with each once. Takes little time after unite_in_memory(), if nothing was spilled.
  void for_each_once(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const;

 private:
  // Of one thread.
  struct Scratch {
    std::vector<KeyHash> gathered;
    HashSorter sorter;
  };
  using Sort = void (GatheredHashes::*)(std::size_t partition, Scratch& scratch, std::vector<KeyHash>& sorted) const;
  // Numbers of hashes.
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
  bool mostly_different_ = false;  // it was not worth while to unite them
};

}  // namespace bloomgate
