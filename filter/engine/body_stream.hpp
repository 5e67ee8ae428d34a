// Makes the bit array of a filter from its front to its end, from hashes in the order of a store, a MiB at a time: in
// memory of that size, which stays in the cache, and with as many threads as are available.
//
// Used by SortedBuild. make() is safe from any thread; everything else is for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "filter/file/sections.hpp"
#include "filter/hash/hash_run.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {

class KnownStrangers;

class BodyStream {
 public:
  // A part of the array, and hashes in the form of a store: all hashes that have bits in that part, and perhaps some
  // others. No block crosses the end of such a chunk.
  struct Chunk {
    std::uint64_t begin = 0;  // a multiple of kChecksumChunkBytes
    std::uint64_t bytes = 0;
    std::vector<HashRun> runs = {};  // ascending
  };

  // `shape` is that of a filter that is made from a store.
  explicit BodyStream(const FilterShape& shape) noexcept
      : shape_(shape), rules_(&layout_rules(shape.layout)), array_bytes_(body_bytes(shape)) {}

  // Accepts hashes, which must ascend strictly and be greater than those before. Returns the chunks that later hashes
  // cannot touch.
  std::vector<Chunk> cut(const HashRun& run);
  // Call it after the last hashes: returns the remaining chunks.
  std::vector<Chunk> cut_rest();

  // Makes the bytes of a chunk in `memory`, whatever is in there, and returns them. Notes the chunk's entries and bits
  // for the excluded senders, if there are any. Throws std::bad_alloc.
  std::span<const std::byte> make(const Chunk& chunk, std::span<std::byte, kChecksumChunkBytes> memory,
                                  KnownStrangers* strangers = nullptr) const;

 private:
  std::uint64_t begin_of(KeyHash hash) const noexcept { return rules_->bytes_of(shape_, hash).begin; }
  Chunk next_chunk();
  void set_bits(const Chunk& chunk, std::span<const KeyHash> run, BodyPart part, KnownStrangers* strangers) const;
  void make_blocks(const Chunk& chunk, BodyPart part, KnownStrangers* strangers) const;

  FilterShape shape_;
  const LayoutRules* rules_;
  std::uint64_t array_bytes_;
  std::uint64_t next_ = 0;       // where the next chunk begins
  std::deque<HashRun> waiting_;  // until their chunks are complete
};

}  // namespace bloomgate
