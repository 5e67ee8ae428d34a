// A part of a filter: the bits of a range of its blocks, made by itself. So several machines, or the tasks of a data
// lake, each make a part of one filter, and `bloomgate join` puts the parts together to the file that one machine would
// have made of all entries.
//
// For filters of the layouts page and line, of addresses alone: no domain entries, no pairs, no known strangers, no
// store. Used by the library. The functions are pure; a FilterPart is for one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "filter/gather/hash_partitions.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {

// Blocks of a filter, from `first` on.
struct BlockRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const noexcept { return first + count; }
  // Whether it has a block, and none that a filter of so many has not.
  bool is_within(std::uint64_t block_count) const noexcept {
    return count != 0 && count <= block_count && first <= block_count - count;
  }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

// Page and line.
bool is_made_of_parts(Layout layout) noexcept;

// Throws BloomgateError{unsupported_layout, bad_argument} unless filters of that shape can be made of parts.
void require_parts(const FilterShape& shape);

// The block that the bits of a hash are in.
std::uint64_t block_of_hash(const FilterShape& shape, KeyHash hash) noexcept;

// The blocks of part number `part` of `parts` that are as even as can be: from floor(part * blocks / parts) on. Throws
// BloomgateError{bad_argument} unless part < parts, and there is a block for each part.
BlockRange blocks_of_part(std::uint64_t block_count, std::uint64_t part, std::uint64_t parts);

// The part that a block is in. The same must hold.
std::uint64_t part_of_block(std::uint64_t block_count, std::uint64_t block, std::uint64_t parts) noexcept;

class FilterPart {
 public:
  // The filter is sized for `expected_entries`. Takes memory for the bits of the range, and later up to 64 MiB for
  // hashes. Throws as require_parts(), and BloomgateError{bad_argument} for a range that the filter has not,
  // {out_of_memory}.
  FilterPart(const FilterShape& shape, std::uint64_t expected_entries, const BlockRange& range);

  // Hashes of addresses (hash_of_address), in any order; each counts as often as it is added. Throws
  // BloomgateError{bad_argument} for one that belongs to another range, and then adds none, and {out_of_memory}.
  void add(std::span<const KeyHash> hashes);

  const BlockRange& range() const noexcept { return range_; }
  std::uint64_t addresses() const noexcept { return addresses_; }
  // The bits of the range, as they will be in the filter's file.
  std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }

  // Writes the part file (part_file.hpp) to `path`, as NewFile does; several may be written one after the other. Throws
  // as NewFile.
  void write(const std::string& path, unsigned threads = 1) const;

 private:
  void set_bits(std::span<const KeyHash> hashes);

  FilterShape shape_;
  std::uint64_t expected_entries_;
  BlockRange range_;
  AnonymousMemory memory_;
  std::uint64_t addresses_ = 0;
  std::optional<HashPartitions> partitions_;  // once there are many hashes
};

}  // namespace bloomgate
