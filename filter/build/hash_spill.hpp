// Hashes for which there was no room in memory, in a file without a name: what HashPartitions has gathered is put there
// a partition at a time, and read again when that partition's bits are set. Used by the builder.
//
// The file is gone with the object, or with the process, whatever ends it. Different partitions may be used in
// different threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "filter/base/file_descriptor.hpp"
#include "filter/build/hash_partitions.hpp"

namespace bloomgate {

class HashSpill {
 public:
  // Creates the file in `folder`. Throws BloomgateError{cannot_write}.
  HashSpill(const std::string& folder, std::size_t partition_count);

  // Adds a partition's hashes to what is there of it. Throws BloomgateError{cannot_write}, for a full disk among
  // others.
  void add(std::size_t partition, const HashPartitions& hashes);

  // Calls `visit` with runs of the partition's hashes, in no particular order. Throws BloomgateError{cannot_read}.
  void for_each_run(std::size_t partition, const std::function<void(std::span<const KeyHash>)>& visit) const;

  // Bytes in the file.
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Extent {
    std::uint64_t offset;
    std::uint64_t hashes;
  };

  std::string folder_;
  FileDescriptor file_;
  std::atomic<std::uint64_t> bytes_{0};
  std::vector<std::vector<Extent>> extents_;  // of each partition
};

}  // namespace bloomgate
