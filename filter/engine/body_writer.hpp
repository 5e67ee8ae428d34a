// Writes parts of the array, and counts their ones, or their counters, in its own threads, while the next parts are
// made. Used by FilterBuilder and CountingUpdate, in one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "filter/engine/write_progress.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/system/write_behind.hpp"

namespace bloomgate {

class BodyWriter {
 public:
  // All of these must outlive it.
  BodyWriter(FilterWriter& writer, const FilterShape& shape, unsigned threads, const std::atomic<bool>& stop,
             WriteProgress& progress);

  // Begins to write a part, which must not change until finish(). `begin` is a multiple of kChecksumChunkBytes; the
  // part ends at such a multiple or at the end of the array. Throws what writing an earlier part threw.
  void write(std::uint64_t begin, std::span<const std::byte> bytes);
  // Waits until all is written. Throws BloomgateError{cannot_write}, and {interrupted} if `stop` turned true.
  void finish();

  // The counts in all that was written, valid after finish() (FilterHeader::bits_set and saturated).
  std::uint64_t ones() const noexcept { return ones_; }
  std::uint64_t saturated() const noexcept { return saturated_; }

 private:
  void write_piece(std::uint64_t begin, std::span<const std::byte> piece);

  FilterWriter& writer_;
  const FilterShape& shape_;
  const std::atomic<bool>& stop_;
  WriteProgress& progress_;
  std::atomic<std::uint64_t> ones_{0};
  std::atomic<std::uint64_t> saturated_{0};
  WriteBehind disk_;  // the last member: its threads use the others
};

}  // namespace bloomgate
