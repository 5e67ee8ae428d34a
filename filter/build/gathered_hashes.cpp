#include "filter/build/gathered_hashes.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/build/sort_hashes.hpp"

namespace bloomgate {
GatheredHashes::GatheredHashes(unsigned lanes, std::uint64_t memory_bytes, std::string scratch_folder)
    : scratch_folder_(std::move(scratch_folder)),
      memory_bytes_(memory_bytes),
      partitions_(kPartitionBits, lanes, memory_bytes) {}

void GatheredHashes::spill(unsigned threads) {
  if (!spill_) spill_ = std::make_unique<HashSpill>(scratch_folder_, partitions_.partition_count());
  spill_->take(partitions_, threads);
}

// Gives the number of hashes that are left.
std::uint64_t GatheredHashes::unite_in_memory(unsigned threads) {
  std::vector<std::vector<KeyHash>> united(partitions_.partition_count());
  for_each_parallel(threads, united.size(), [&](std::size_t partition) {
    std::vector<KeyHash> hashes;
    partitions_.for_each_run(
        partition, [&](std::span<const KeyHash> run) { hashes.insert(hashes.end(), run.begin(), run.end()); });
    sort_hashes(hashes, kPartitionBits, united[partition]);
  });
  partitions_.clear();
  HashPartitions::Lane& lane = partitions_.lane(0);
  std::uint64_t count = 0;
  for (const std::vector<KeyHash>& hashes : united) {
    for (const KeyHash hash : hashes) lane.add(hash);
    count += hashes.size();
  }
  lane.settle();
  return count;
}

void GatheredHashes::unite(unsigned threads) {
  // One lane gets them all back. It may need a chunk more for each partition than they had.
  if (!partitions_.has_room_for(0)) return spill(threads);
  if (unite_in_memory(threads) > memory_bytes_ / sizeof(KeyHash) / 2) spill(threads);
}

std::vector<KeyHash> GatheredHashes::gathered(std::size_t partition) const {
  std::vector<KeyHash> hashes;
  const auto take = [&](std::span<const KeyHash> run) { hashes.insert(hashes.end(), run.begin(), run.end()); };
  if (spill_) spill_->for_each_run(partition, take);
  partitions_.for_each_run(partition, take);
  return hashes;
}

std::vector<KeyHash> GatheredHashes::sorted(std::size_t partition) const {
  std::vector<KeyHash> hashes = gathered(partition);
  std::ranges::sort(hashes);
  return hashes;
}

std::vector<KeyHash> GatheredHashes::sorted_once(std::size_t partition) const {
  std::vector<KeyHash> hashes = gathered(partition);
  if (std::ranges::adjacent_find(hashes, std::greater_equal()) == hashes.end())
    return hashes;  // as unite() leaves them
  std::vector<KeyHash> sorted;
  sort_hashes(hashes, kPartitionBits, sorted);
  return sorted;
}

void GatheredHashes::for_each_sorted(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const {
  for_each_partition(threads, use, [this](std::size_t partition) { return sorted(partition); });
}

void GatheredHashes::for_each_once(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const {
  for_each_partition(threads, use, [this](std::size_t partition) { return sorted_once(partition); });
}

template <typename Sorted>
void GatheredHashes::for_each_partition(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use,
                                        Sorted sorted) const {
  const std::size_t count = partitions_.partition_count();
  for (std::size_t first = 0; first < count; first += threads) {
    std::vector<std::vector<KeyHash>> runs(std::min<std::size_t>(threads, count - first));
    for_each_parallel(threads, runs.size(), [&](std::size_t i) { runs[i] = sorted(first + i); });
    for (const std::vector<KeyHash>& run : runs) use(run);
  }
}

}  // namespace bloomgate
