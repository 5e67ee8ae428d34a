// The addresses of a store merged with changes, in the order of the hashes, in pieces that several threads can merge at
// once. Used by StoreUpdate, and by the ranks of bloomgate-mpi, each for a range of the hashes.
//
// Call order: constructor, count, next_piece*. merge() is safe from any thread; everything else is for one thread at a
// time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "filter/address/kinds_held.hpp"
#include "filter/gather/gathered_hashes.hpp"
#include "filter/hash/hash_range.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate {

// Entries, addresses and domain entries together, each once.
struct UpdateCounts {
  std::uint64_t added = 0;
  std::uint64_t already_there = 0;  // to be added, but in the old store already
  std::uint64_t removed = 0;
  std::uint64_t not_there = 0;  // to be removed, but not in the old store
  std::uint64_t both = 0;       // both to be added and to be removed: these are removed

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

// Merges the domain entries of the old store with their changes, and calls `use` with runs of the new ones, all in
// ascending order. Throws what `use`, reading the store and reading the changes throw.
UpdateCounts merge_domains(const StoreFile& old, const GatheredHashes& added, const GatheredHashes& removed,
                           const std::function<void(std::span<const KeyHash>)>& use);

// The pairs among the new hashes, if `added` was added to the old ones, and `new_addresses` of the addresses were new.
KindsHeld kinds_after(KindsHeld old, KindsHeld added, std::uint64_t new_addresses) noexcept;

class StoreMerge {
 public:
  // Some pages of the old store, and the range of hashes that they have or would have, from `first` to `last`.
  struct Piece {
    std::uint64_t first_page = 0;
    std::uint64_t end_page = 0;
    KeyHash first = 0;
    KeyHash last = 0;
    std::shared_future<PartitionChanges> changes = {};  // of its partition; the first thread that needs them gathers
  };

  // The buffers of a thread that merges; it keeps them, so that memory is allocated once.
  struct Scratch {
    std::vector<std::byte> pages;
    std::vector<KeyHash> old;
    std::vector<KeyHash> merged;
  };

  // 28,000 hashes in the usual coding: a piece of that size stays in the second-level cache.
  static constexpr std::uint64_t kPagesOfPiece = 32;

  // All of these must outlive the object, and the changes must be complete before count(). It takes only the hashes in
  // `range` from the old store (other ranks may merge other ranges at the same time); all changes must be in `range`.
  StoreMerge(const StoreFile& old, const GatheredHashes& added, const GatheredHashes& removed, unsigned threads,
             std::uint64_t pages_of_piece, HashRange range = {});

  // Compares the changes with the old store, reading only what they touch. Throws BloomgateError{interrupted}, and what
  // reading the store throws.
  UpdateCounts count(const std::atomic<bool>& stop);

  // The next piece, if there is one. The pages of the following pieces are read ahead.
  std::optional<Piece> next_piece();

  // Appends the merged hashes of a piece. Throws what reading the store and the changes throws.
  UpdateCounts merge(const Piece& piece, Scratch& scratch, std::vector<KeyHash>& out) const;

 private:
  HashRange own_hashes(std::size_t partition) const noexcept;
  std::pair<std::uint64_t, std::uint64_t> pages_of(std::size_t partition) const;
  std::vector<Piece> pieces_of(std::size_t partition) const;
  UpdateCounts count(const Piece& piece, Scratch& scratch) const;
  UpdateCounts look_up(const Piece& piece) const;
  bool contains(KeyHash hash) const;

  const StoreFile& old_;
  const GatheredHashes& added_;
  const GatheredHashes& removed_;
  unsigned threads_;
  std::uint64_t pages_of_piece_;
  HashRange range_;
  std::size_t end_partition_;
  std::size_t next_partition_;
  std::deque<Piece> next_pieces_;  // of the partition before next_partition_
};

}  // namespace bloomgate
