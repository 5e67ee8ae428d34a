// From entries to a filter file. Used by `bloomgate build` and by tests.
//
// Entries are kept as 64-bit hashes, 8 bytes each, until their number is known and the bit array can be
// sized. They are kept in partitions by their high bits: a partition's blocks are neighbours, so that when
// its bits are set they sit in the processor's cache. The same entries (in any order), options and seed give
// the same bytes.
//
// Not thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter/address.hpp"
#include "filter/file_format.hpp"

namespace bloomgate {

struct BuildOptions {
  double bits_per_entry = 8;                           // 1 to 64
  std::uint32_t hashes = 6;                            // 1 to kMaxHashes
  std::optional<std::uint64_t> expected_entries = {};  // sizes the filter; without it the entries are counted
  std::uint64_t seed = 0;                              // random_seed(), unless the same bytes are wanted again
  AddressProfile profile = {};                         // must be the one that the entries were made with
};

class FilterBuilder {
 public:
  // Throws BloomgateError{bad_argument} for options out of range.
  explicit FilterBuilder(const BuildOptions& options);

  // `entry` must be a key (Entry::is_key()). Amortised constant time. Throws std::bad_alloc.
  void add(const Entry& entry);

  std::uint64_t entries() const noexcept { return entries_; }

  // Builds the filter and puts it at `path` (see FilterWriter). Where `stop` turns true on the way it gives
  // up with BloomgateError{interrupted} and leaves nothing behind. Throws BloomgateError also for what
  // FilterWriter throws and {out_of_memory, size_overflow}. Gives the header as written.
  FilterHeader write(const std::string& path, const std::atomic<bool>& stop) const;

 private:
  static constexpr int kPartitionBits = 8;

  BuildOptions options_;
  std::array<std::vector<KeyHash>, std::size_t{1} << kPartitionBits> partitions_;
  std::uint64_t entries_ = 0;
  bool has_domains_ = false;
  bool has_domain_trees_ = false;
};

}  // namespace bloomgate
