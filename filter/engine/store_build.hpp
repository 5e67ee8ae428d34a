// Makes the part of a store that belongs to a rank of bloomgate-mpi, beside its bits, in one thread: sorts the hashes
// of each partition and passes them on in order.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "filter/gather/sort_hashes.hpp"
#include "filter/hash/hash.hpp"

namespace bloomgate {

class StoreBuild {
 public:
  // Appends the hashes of a partition; called from several threads for different partitions.
  using Gather = std::function<void(std::size_t partition, std::vector<KeyHash>& hashes)>;

  // Called with the hashes in strictly ascending order, all greater than those before.
  using HandOn = std::function<void(std::span<const KeyHash> hashes)>;

  // There are 2^partition_bits partitions.
  StoreBuild(HandOn hand_on, unsigned partition_bits, unsigned threads)
      : hand_on_(std::move(hand_on)),
        partition_bits_(partition_bits),
        threads_(threads),
        gathered_(threads),
        sorters_(threads) {}

  // Processes these partitions, which must come after those of the calls before. Throws what the two functions throw.
  void take(std::size_t first, std::size_t end, const Gather& gather);

 private:
  HandOn hand_on_;
  unsigned partition_bits_;
  unsigned threads_;
  std::vector<std::vector<KeyHash>> gathered_;  // for each thread
  std::vector<HashSorter> sorters_;             // for each thread
  std::vector<std::vector<KeyHash>> sorted_;    // for each partition of one round
};

}  // namespace bloomgate
