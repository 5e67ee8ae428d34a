#include "filter/gather/gathered_hashes.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "filter/base/parallel.hpp"

namespace bloomgate {
GatheredHashes::GatheredHashes(unsigned lanes, std::uint64_t memory_bytes, std::string scratch_folder)
    : scratch_folder_(std::move(scratch_folder)),
      memory_bytes_(memory_bytes),
      partitions_(kPartitionBits, lanes, memory_bytes) {}

void GatheredHashes::spill(unsigned threads) {
  if (!spill_) spill_ = std::make_unique<HashSpill>(scratch_folder_, partitions_.partition_count());
  spill_->take(partitions_, threads);
}

namespace {

// The different hashes among many, in the order of their first occurrence. While the set fits into a cache of the core,
// a hash takes a few nanoseconds: less than sorting it.
class HashSet {
 public:
  // Throws std::bad_alloc.
  void add(KeyHash hash) {
    if (hash == 0) {
      if (!has_zero_) hashes_.push_back(0);
      has_zero_ = true;
      return;
    }
    KeyHash& slot = slots_[slot_of(hash)];
    if (slot == hash) return;
    slot = hash;
    hashes_.push_back(hash);
    if (2 * hashes_.size() > slots_.size()) grow();
  }

  std::span<const KeyHash> hashes() const noexcept { return hashes_; }

  // Empties the set, and keeps its memory.
  void clear() {
    std::ranges::fill(slots_, 0);
    hashes_.clear();
    has_zero_ = false;
  }

 private:
  // The slot where the hash is, or where it belongs: open addressing, at most half full. It follows from the low bits,
  // since all hashes of a partition have the same high ones.
  std::size_t slot_of(KeyHash hash) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at] != hash && slots_[at] != 0) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (const KeyHash hash : hashes_) {
      if (hash != 0) slots_[slot_of(hash)] = hash;
    }
  }

  static constexpr std::size_t kLeastSlots = 1024;

  std::vector<KeyHash> slots_ = std::vector<KeyHash>(kLeastSlots);  // 0: empty; the size is a power of two
  std::vector<KeyHash> hashes_;
  bool has_zero_ = false;
};

// Two methods of removing the duplicates of a partition. Each object is for one thread.
struct BySet {
  void choose(std::span<const KeyHash> hashes, std::vector<KeyHash>& chosen) {
    set.clear();
    for (const KeyHash hash : hashes) set.add(hash);
    chosen.assign(set.hashes().begin(), set.hashes().end());
  }
  HashSet set;
};

struct BySorting {
  void choose(std::span<const KeyHash> hashes, std::vector<KeyHash>& chosen) {
    chosen.clear();
    sorter.sort(hashes, GatheredHashes::kPartitionBits, chosen);
  }
  HashSorter sorter;
};

}  // namespace

template <typename Way>
GatheredHashes::Left GatheredHashes::unite_partitions(unsigned threads) {
  std::atomic<std::uint64_t> before{0};
  std::atomic<std::uint64_t> after{0};
  std::atomic<std::size_t> next{0};
  run_parallel(threads, [&](unsigned) {
    Way way;
    std::vector<KeyHash> hashes;
    std::vector<KeyHash> chosen;
    for (std::size_t partition; (partition = next.fetch_add(1)) < partition_count();) {
      hashes.clear();
      append_in_memory(partition, hashes);
      way.choose(hashes, chosen);
      partitions_.replace(partition, chosen);
      before += hashes.size();
      after += chosen.size();
    }
  });
  return {before, after};
}

void GatheredHashes::make_room_by_uniting(unsigned threads, std::uint64_t hashes) {
  if (mostly_different_ || !partitions_.has_room_for(0)) return spill(threads);
  const Left left = unite_partitions<BySet>(threads);
  const std::uint64_t were_there = std::exchange(united_, left.after);
  // If most new hashes were new, it takes less time to sort all of them at the end.
  mostly_different_ = left.after - were_there > (left.before - were_there) / 4 * 3;
  if (left.after <= memory_bytes_ / sizeof(KeyHash) / 2 && partitions_.has_room_for(hashes)) return;
  united_ = 0;
  spill(threads);
}

void GatheredHashes::unite_in_memory(unsigned threads) {
  if (!spill_ && partitions_.has_room_for(0)) unite_partitions<BySorting>(threads);
}

void GatheredHashes::append_in_memory(std::size_t partition, std::vector<KeyHash>& hashes) const {
  partitions_.for_each_run(partition,
                           [&](std::span<const KeyHash> run) { hashes.insert(hashes.end(), run.begin(), run.end()); });
}

void GatheredHashes::gather(std::size_t partition, std::vector<KeyHash>& hashes) const {
  hashes.clear();
  if (spill_) {
    hashes.reserve(spill_->hashes(partition));
    spill_->for_each_run(partition,
                         [&](std::span<const KeyHash> run) { hashes.insert(hashes.end(), run.begin(), run.end()); });
  }
  append_in_memory(partition, hashes);
}

// Approximately: hashes are even over the partitions.
std::uint64_t GatheredHashes::bytes_of_partition() const {
  std::uint64_t hashes = spill_ ? spill_->hashes(0) : 0;
  partitions_.for_each_run(0, [&](std::span<const KeyHash> run) { hashes += run.size(); });
  return hashes * sizeof(KeyHash);
}

// Puts the hashes of a partition into `sorted`, in ascending order.
void GatheredHashes::sort(std::size_t partition, Scratch& /*scratch*/, std::vector<KeyHash>& sorted) const {
  gather(partition, sorted);
  std::ranges::sort(sorted);
}

void GatheredHashes::sort_once(std::size_t partition, Scratch& scratch, std::vector<KeyHash>& sorted) const {
  gather(partition, scratch.gathered);
  sorted.clear();
  if (std::ranges::adjacent_find(scratch.gathered, std::greater_equal()) == scratch.gathered.end()) {
    sorted.swap(scratch.gathered);  // unite() has left them in order
  } else {
    scratch.sorter.sort(scratch.gathered, kPartitionBits, sorted);
  }
}

std::vector<KeyHash> GatheredHashes::sorted_once(std::size_t partition) const {
  Scratch scratch;
  std::vector<KeyHash> sorted;
  sort_once(partition, scratch, sorted);
  return sorted;
}

void GatheredHashes::for_each_sorted(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const {
  for_each_partition(threads, use, &GatheredHashes::sort);
}

void GatheredHashes::for_each_once(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use) const {
  for_each_partition(threads, use, &GatheredHashes::sort_once);
}

void GatheredHashes::for_each_partition(unsigned threads, const std::function<void(std::span<const KeyHash>)>& use,
                                        Sort sort_into) const {
  constexpr std::size_t kOfThread = 2;
  // As much memory again as the hashes may have, for the lists below and those in which they are gathered.
  constexpr std::uint64_t kListsOfPartition = 3;
  const std::uint64_t at_once = std::clamp<std::uint64_t>(
      memory_bytes_ / (kListsOfPartition * (bytes_of_partition() + 1)), 1, kOfThread * threads);
  std::vector<Scratch> scratch(threads);  // kept, since allocating memory takes longer than sorting into it
  std::vector<std::vector<KeyHash>> sorted(at_once);
  std::vector<std::vector<KeyHash>> used(sorted.size());
  for (std::size_t first = 0; first < partition_count(); first += sorted.size()) {
    const std::size_t count = std::min(sorted.size(), partition_count() - first);
    std::atomic<std::size_t> next{0};
    run_parallel(threads, [&](unsigned thread) {
      // This thread uses what was sorted before, while the other threads sort.
      if (thread + 1 == threads) std::ranges::for_each(used, use);
      for (std::size_t i; (i = next.fetch_add(1)) < count;) (this->*sort_into)(first + i, scratch[thread], sorted[i]);
    });
    for (std::size_t i = count; i < sorted.size(); ++i) sorted[i].clear();
    used.swap(sorted);
  }
  std::ranges::for_each(used, use);
}

}  // namespace bloomgate
