// Cuts sorted hashes into the pages of a store (store_page.hpp), and makes these a MiB at a time. Where a page begins
// follows from all hashes before it, so the cutting is for one thread, from the first hash to the last. It is quick.
// Making the pages takes long, and any thread may do it. Where several processes make one store, each cuts on where the
// one before it has stopped.
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
  std::vector<std::shared_ptr<const std::vector<KeyHash>>> memory = {};  // that these are in, if they were in runs
};

class StoreCut {
 public:
  // The first chunk begins with the page of that number.
  explicit StoreCut(unsigned low_bits, std::uint64_t first_page = 0) noexcept
      : low_bits_(low_bits), first_page_(first_page) {}

  // Takes the chunks off the front of `hashes` that later hashes do not change, or all of them if none will come. What
  // is left belongs before the later ones. `hashes` ascend strictly, and are greater than those before.
  std::vector<StoreChunk> cut(std::span<const KeyHash>& hashes, bool is_last);
  // The same for runs, which the chunks share; not together with the other one. Takes all of a run, and gives the
  // chunks that later runs do not change.
  std::vector<StoreChunk> cut(const HashRun& run);
  // No runs will come: gives the last chunk, if there is one.
  std::vector<StoreChunk> cut_rest();
  // Makes the pages of a chunk in `memory`, and gives the part of it that they take. Safe from any thread.
  std::span<const std::byte> make(const StoreChunk& chunk,
                                  std::span<std::byte, kChecksumChunkBytes> memory) const noexcept;

  // Chunks that come behind those so far, which another process has cut: the first hash of each of their pages, and how
  // many hashes they have.
  void add_made(std::span<const KeyHash> index, std::uint64_t hashes);

  // Of all chunks so far.
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
  StoreChunk next_chunk_ = {};           // of runs, with the pages that it has so far
  std::vector<KeyHash> next_page_ = {};  // of runs, fewer than fill a page
};

}  // namespace bloomgate
