// The hashes of domain entries on their way into a filter: gathered by several threads, kept on disk where memory is
// full, and given out once, in ascending order. Used by the builder.
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

#include "filter/build/hash_partitions.hpp"
#include "filter/build/hash_spill.hpp"

namespace bloomgate {

class DomainHashes {
 public:
  // `memory_bytes` for the hashes of all lanes. Throws BloomgateError{out_of_memory}.
  DomainHashes(unsigned lanes, std::uint64_t memory_bytes, std::string scratch_folder);

  HashPartitions::Lane& lane(unsigned index) noexcept { return partitions_.lane(index); }

  // Whether every lane can take `hashes` more before a spill(). Safe from any thread.
  bool has_room_for(std::uint64_t hashes) const noexcept { return partitions_.has_room_for(hashes); }

  // Makes room, in a temporary file. Throws BloomgateError{cannot_write}.
  void spill(unsigned threads);

  // Bytes that went through the temporary file.
  std::uint64_t spilled_bytes() const noexcept { return spill_ ? spill_->bytes() : 0; }

  // Calls `use` with runs of the hashes in ascending order, all in all; duplicates come one behind the other. Up to
  // `threads` threads sort ahead. Throws what `use` throws and BloomgateError{cannot_read}.
  void for_each_sorted(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const;

 private:
  std::vector<KeyHash> sorted(std::size_t partition) const;

  std::string scratch_folder_;
  HashPartitions partitions_;
  std::unique_ptr<HashSpill> spill_;
};

}  // namespace bloomgate
