// Cuts sorted hashes into the pages of a store (store_page.hpp), and makes these a MiB at a time. Where a page begins
// depends on all hashes before it, so one thread does the cutting, from the first hash to the last. It is quick. Making
// the pages takes long, and any thread may do it. If several processes make one store, each continues the cutting where
// the one before it has stopped.
//
// Used by StoreWriter and by the ranks of bloomgate-mpi.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "filter/file/sections.hpp"
#include "filter/hash/hash_run.hpp"

namespace bloomgate {

// Pages that fill a MiB of a store, or the rest of it, before they are made.
struct StoreChunk {
  std::uint64_t first_page = 0;
  std::vector<std::span<const KeyHash>> pages = {};
  std::vector<std::shared_ptr<const std::vector<KeyHash>>> memory = {};  // owns the hashes of runs
};

class StoreCut {
 public:
  // `first_page` is the number of the first chunk's first page.
  explicit StoreCut(unsigned low_bits, std::uint64_t first_page = 0) noexcept
      : low_bits_(low_bits), first_page_(first_page) {}

  // Removes complete chunks, which later hashes do not change, from the front of `hashes`; with `is_last`, removes all.
  // What is left belongs before the later hashes. `hashes` must ascend strictly, and be greater than those before.
  std::vector<StoreChunk> cut(std::span<const KeyHash>& hashes, bool is_last);
  // The same for runs, which the chunks share; do not mix it with the other cut(). Consumes all of a run, and returns
  // the chunks that later runs do not change.
  std::vector<StoreChunk> cut(const HashRun& run);
  // Call it after the last run: returns the last chunk, if there is one.
  std::vector<StoreChunk> cut_rest();
  // Makes the pages of a chunk in `memory`, and returns the part of it that they fill. Safe from any thread.
  std::span<const std::byte> make(const StoreChunk& chunk,
                                  std::span<std::byte, kChecksumChunkBytes> memory) const noexcept;

  // Adds chunks after those so far, which another process has cut: the first hash of each of their pages, and how many
  // hashes they have.
  void add_made(std::span<const KeyHash> index, std::uint64_t hashes);

  // The totals of all chunks so far.
  std::uint64_t next_page() const noexcept { return first_page_ + index_.size(); }
  const std::vector<KeyHash>& index() const noexcept { return index_; }  // the first hash of each page
  std::uint64_t hashes() const noexcept { return hashes_; }

 private:
  void add_page(const HashRun& page, std::vector<StoreChunk>& chunks);
  std::span<const KeyHash> complete_page(const HashRun& run, std::vector<StoreChunk>& chunks);

  unsigned low_bits_;
  std::uint64_t first_page_;
  std::vector<KeyHash> index_;
  std::uint64_t hashes_ = 0;
  StoreChunk next_chunk_ = {};           // from runs: a chunk that is not complete yet
  std::vector<KeyHash> next_page_ = {};  // from runs: too few hashes to fill a page yet
};

}  // namespace bloomgate
