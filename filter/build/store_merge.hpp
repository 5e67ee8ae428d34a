// The addresses of a store merged with changes, in the order of the hashes: in rounds, each of pieces that several
// threads can merge at once. Used by StoreUpdate.
//
// Call order: constructor, count, (next_round, merge*)*. merge() is safe from any thread for different pieces;
// everything else is for one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "filter/build/gathered_hashes.hpp"
#include "filter/file/store_file.hpp"

namespace bloomgate {

// Entries, addresses and domain entries together, each once.
struct UpdateCounts {
  std::uint64_t added = 0;
  std::uint64_t already_there = 0;  // were to be added, and are in the old store
  std::uint64_t removed = 0;
  std::uint64_t not_there = 0;  // were to be removed, and are not in the old store
  std::uint64_t both = 0;       // were to be added and to be removed: these are removed

  UpdateCounts& operator+=(const UpdateCounts& other) noexcept;
  friend bool operator==(const UpdateCounts&, const UpdateCounts&) = default;
};

// The changes of a partition of the hashes, in ascending order, each once.
struct PartitionChanges {
  std::vector<KeyHash> added;  // and not removed
  std::vector<KeyHash> removed;
  std::uint64_t both = 0;
};

// Throws BloomgateError{cannot_read}.
PartitionChanges changes_of(const GatheredHashes& added, const GatheredHashes& removed, std::size_t partition);

// Appends (old without removed) and added to `out`. All ascend strictly, and nothing is both added and removed.
UpdateCounts merge_hashes(std::span<const KeyHash> old, std::span<const KeyHash> added,
                          std::span<const KeyHash> removed, std::vector<KeyHash>& out);

class StoreMerge {
 public:
  // Some pages of the old store, the hashes from `first` to `last` that they have or would have, and what becomes of
  // them.
  struct Piece {
    std::uint64_t first_page = 0;
    std::uint64_t end_page = 0;
    KeyHash first = 0;
    KeyHash last = 0;
    std::shared_ptr<const PartitionChanges> changes = {};
    std::vector<KeyHash> merged = {};
    UpdateCounts counts = {};
  };

  // What a thread needs while it merges; kept, so that memory is taken once.
  struct Scratch {
    std::vector<std::byte> pages;
    std::vector<KeyHash> old;
  };

  // Enough of them that a thread seldom waits for the others.
  static constexpr std::uint64_t kHashesOfRound = std::uint64_t{1} << 21;

  // All of these must outlive it, and the changes be complete before count(). A round has `hashes_of_round` hashes for
  // each thread, or those of a 256th part of all if these are more.
  StoreMerge(const StoreFile& old, const GatheredHashes& added, const GatheredHashes& removed, unsigned threads,
             std::uint64_t hashes_of_round);

  // Compares the changes with the old store, of which it reads what they touch. Throws BloomgateError{interrupted}, and
  // what reading the store throws.
  UpdateCounts count(const std::atomic<bool>& stop);

  // Puts the pieces of the next round into `round`, whose memory is used again. False if there are none. Throws
  // BloomgateError{cannot_read}.
  bool next_round(std::vector<Piece>& round);

  // Throws what reading the store throws.
  void merge(Piece& piece, Scratch& scratch) const;

 private:
  std::vector<Piece> pieces_of(std::size_t partition) const;
  UpdateCounts count(Piece& piece, Scratch& scratch) const;
  UpdateCounts look_up(const Piece& piece) const;
  bool contains(KeyHash hash) const;

  const StoreFile& old_;
  const GatheredHashes& added_;
  const GatheredHashes& removed_;
  unsigned threads_;
  std::uint64_t hashes_of_round_;
  std::vector<std::uint64_t> added_of_;  // in each partition, once counted
  std::size_t next_partition_ = 0;
};

}  // namespace bloomgate
