// Writes parts of the array with several threads, and counts its ones, or its counters. Used by FilterBuilder and
// BodyStream, in one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/file/filter_writer.hpp"
#include "filter/layout/filter_shape.hpp"

namespace bloomgate {

// How far the bit array is written. Safe from any thread.
struct WriteProgress {
  std::atomic<std::uint64_t> done_bytes{0};
  std::atomic<std::uint64_t> total_bytes{0};  // 0: not begun; when all are done, they are read back
};

class BodyWriter {
 public:
  // All of these must outlive it.
  BodyWriter(FilterWriter& writer, const FilterShape& shape, unsigned threads, const std::atomic<bool>& stop,
             WriteProgress& progress);

  // `begin` is a multiple of kChecksumChunkBytes; the part ends at such a multiple or at the end of the array. Throws
  // BloomgateError{cannot_write}, and {interrupted} if `stop` turned true.
  void write(std::uint64_t begin, std::span<const std::byte> bytes);

  // In all that was written (FilterHeader::bits_set and saturated).
  std::uint64_t ones() const noexcept { return ones_; }
  std::uint64_t saturated() const noexcept { return saturated_; }

 private:
  FilterWriter& writer_;
  const FilterShape& shape_;
  unsigned threads_;
  const std::atomic<bool>& stop_;
  WriteProgress& progress_;
  std::atomic<std::uint64_t> ones_{0};
  std::atomic<std::uint64_t> saturated_{0};
};

}  // namespace bloomgate
