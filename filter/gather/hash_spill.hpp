// Hashes that do not fit into memory, in a file without a name. The builder writes the hashes of HashPartitions into
// it, one partition at a time, and reads them again when it sets that partition's bits.
//
// The file disappears with the object, or when the process ends in any way. Different threads may use different
// partitions at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "filter/gather/hash_partitions.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class HashSpill {
 public:
  // Creates the file in `folder`. Throws BloomgateError{cannot_write}.
  HashSpill(const std::string& folder, std::size_t partition_count);

  // Adds all hashes to those in the file, with `threads` threads, and clears `hashes`. Throws
  // BloomgateError{cannot_write}, for example if the disk is full.
  void take(HashPartitions& hashes, unsigned threads);

  // Calls `visit` with runs of the partition's hashes, in no particular order. Throws BloomgateError{cannot_read}.
  void for_each_run(std::size_t partition, const std::function<void(std::span<const KeyHash>)>& visit) const;

  // How many hashes of the partition are in the file.
  std::uint64_t hashes(std::size_t partition) const noexcept;

  // Bytes in the file.
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  void add(std::size_t partition, const HashPartitions& hashes);

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
