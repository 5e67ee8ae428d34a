// What every layout must define: where the bits of an entry are in the array, the resulting rate of false positives,
// and how a builder sets the bits. The layouts page and line are in blocked_layout.cpp; the others have their own
// files. Rules are constants; everything here is safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/layout/filter_shape.hpp"

namespace bloomgate {

// The parts of the array, in the words of the layout: "244141 blocks of 4096 bytes".
struct LayoutParts {
  std::uint64_t count = 0;
  std::string_view name;
  std::uint64_t bytes = 0;  // of each
};

// Bytes of the array, from `begin` up to but not including `end`.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// A part of the array in memory: the byte at `begin` of the array is at `data`.
struct BodyPart {
  std::byte* data = nullptr;
  std::uint64_t begin = 0;
};

struct ConstBodyPart {
  const std::byte* data = nullptr;
  std::uint64_t begin = 0;
};

// What a builder counts in an array, or in whole blocks of it.
struct BodyCounts {
  std::uint64_t ones = 0;       // bits that are 1; counters that are not 0
  std::uint64_t saturated = 0;  // how many of these are counters whose number of entries is no longer known
};

class LayoutRules {
 public:
  // The name on the command line.
  virtual std::string_view name() const noexcept = 0;

  // The limits of FilterShape::block_bytes, which is also the step in which the array grows. If it cannot be chosen, k
  // alone determines it.
  virtual bool block_bytes_can_be_chosen() const noexcept { return false; }
  virtual std::uint32_t default_block_bytes(std::uint32_t hashes) const noexcept = 0;
  virtual bool allows_block_bytes(std::uint32_t block_bytes, std::uint32_t hashes) const noexcept = 0;
  virtual std::string block_bytes_rule(std::uint32_t hashes) const = 0;  // "a power of two from 64 to 512"

  // How large k may be.
  virtual std::uint32_t most_hashes() const noexcept { return kMaxHashes; }

  virtual LayoutParts parts(const FilterShape& shape) const noexcept = 0;

  // Building and looking up both have two steps. An entry becomes some 64-bit values (1 or `hashes`) that depend on the
  // key, seed and family, but not on the array's size. Values in ascending order set bits from the front of the array
  // to its end, whatever its size. So a builder can first sort values by their high bits, and then set the bits of one
  // part of the array after the other.
  virtual std::uint32_t values_per_entry(std::uint32_t hashes) const noexcept = 0;
  // Whether the only value is hash_of_address(); a builder may then call that itself.
  virtual bool value_is_hash() const noexcept { return false; }
  // The first value also stands for the whole entry among excluded senders (FilterView::excludes): two keys share it
  // only by chance (2^-59 or less).
  virtual void values_of(const FilterShape& shape, std::string_view key, std::uint64_t* values) const noexcept = 0;
  // The bytes with the bits of a value. For a greater value, neither begin nor end is smaller. For values from
  // values_of() they do not go past the array's end.
  virtual ByteRange bytes_of(const FilterShape& shape, std::uint64_t value) const noexcept = 0;
  // Whether the bits of an entry depend on the other entries of its block, which are those for whose values bytes_of()
  // gives the same bytes. Such a block is made once, and nothing can be added to it.
  virtual bool needs_whole_blocks() const noexcept { return false; }
  // `part` must contain all bytes that bytes_of() gives for these values. If needs_whole_blocks(), they must be all the
  // values of one block; then it may throw std::bad_alloc.
  virtual void set_bits(const FilterShape& shape, BodyPart part, std::span<const std::uint64_t> values) const = 0;
  // The same for a block in which nothing is set yet, with all of its values, in any order and as often as the lists
  // have them. Returns how many different values there are if the array counts the entries, otherwise 0.
  virtual std::uint64_t make_block(const FilterShape& shape, BodyPart part, std::span<std::uint64_t> values) const;
  // Whether the array has counters in place of bits, so that entries can be added and removed in place. set_bits() must
  // then get each entry once.
  virtual bool has_counters() const noexcept { return false; }
  // Why the daemon cannot use such a filter to decide mail; empty: it can.
  virtual std::string_view why_not_asked() const noexcept { return {}; }
  // Whether a builder makes the array block by block, from all the entries of each block.
  bool is_made_by_blocks() const noexcept { return needs_whole_blocks() || has_counters(); }
  // Why such a filter cannot have a store, as the end of a sentence after the layout's name; empty: it can.
  virtual std::string_view why_no_store() const noexcept;
  bool can_have_store() const noexcept { return why_no_store().empty(); }
  // Why such a filter cannot have excluded senders; empty: it can.
  virtual std::string_view why_no_strangers() const noexcept { return {}; }
  // The most bits that an entry can set in the array; with counters, the most counters that it can raise from 0.
  virtual std::uint64_t most_bits_of_entry(const FilterShape& shape) const noexcept { return shape.hashes; }
  // `body` is whole words of 64 bits.
  virtual BodyCounts count(std::span<const std::byte> body) const noexcept;

  // Whether all bits of one entry are set in `body`, which has the shape's size. `values` are those of the entry. Stops
  // at the first bit that is not set.
  virtual bool has_bits(const FilterShape& shape, const std::byte* body,
                        const std::uint64_t* values) const noexcept = 0;
  // The same for one of the entry's values, in a part of the array that contains all bytes that bytes_of() gives for
  // this value.
  virtual bool has_bits_of(const FilterShape& shape, ConstBodyPart part, std::uint64_t value) const noexcept = 0;
  // Tells the processor to fetch the memory that has_bits() will read. If many look-ups run at once, they wait for
  // memory together and not one after the other: lookup_batch.hpp.
  virtual void prefetch(const FilterShape& shape, const std::byte* body,
                        const std::uint64_t* values) const noexcept = 0;

  // The false-positive rate in theory, and the number of distinct entries that give this share of ones in the array on
  // average (infinity for 1; not a number if the ones say nothing about the entries).
  virtual double false_positive_rate(const FilterShape& shape, double entries) const noexcept = 0;
  virtual double entries_of_fill(const FilterShape& shape, double fill) const noexcept = 0;

 protected:
  constexpr LayoutRules() = default;
  ~LayoutRules() = default;
};

// The rules of each layout, for the table in layout.cpp.
const LayoutRules& page_layout() noexcept;
const LayoutRules& line_layout() noexcept;
const LayoutRules& classic_layout() noexcept;
const LayoutRules& partitioned_layout() noexcept;
const LayoutRules& ribbon_layout() noexcept;
const LayoutRules& counting_layout() noexcept;

}  // namespace bloomgate
