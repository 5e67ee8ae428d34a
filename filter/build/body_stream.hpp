// Makes the bit array of a filter from its front to its end, out of hashes in the order of a store, and writes it as it
// grows. It needs memory for a window of the array, whatever the array's size.
//
// Used by StoreUpdate, in one thread. Call order: constructor, add*, finish.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "filter/base/anonymous_memory.hpp"
#include "filter/build/body_writer.hpp"
#include "filter/layout/layout.hpp"

namespace bloomgate {

class BodyStream {
 public:
  // `shape` is that of a filter that is made from a store. Throws BloomgateError{out_of_memory}.
  BodyStream(BodyWriter& writer, const FilterShape& shape, unsigned threads);

  // Hashes as a store keeps them, in strictly ascending order, greater than those before. Throws
  // BloomgateError{cannot_write, interrupted}.
  void add(std::span<const KeyHash> stored);

  // Writes what is left of the array. Throws as add().
  void finish();

 private:
  std::uint64_t begin_of(KeyHash hash) const noexcept { return rules_->bytes_of(shape_, hash).begin; }
  void make(std::span<const KeyHash> hashes);
  void make_in_window(std::span<const KeyHash> hashes);
  void move_window(std::uint64_t begin);

  BodyWriter& writer_;
  FilterShape shape_;
  const LayoutRules* rules_;
  unsigned threads_;
  std::uint64_t array_bytes_;
  AnonymousMemory window_;
  std::uint64_t window_begin_ = 0;  // in the array, a multiple of kChecksumChunkBytes
  std::vector<KeyHash> mixed_;      // in ascending order; others may still come into the blocks of these
};

}  // namespace bloomgate
