// One block of the layout ribbon: how its 4,096 bytes are divided, and which of its bits a key depends on.
//
// A homogeneous ribbon filter (Dillinger, Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021;
// Walzer, Dillinger and others, "Fast succinct retrieval and approximate membership using ribbon", 2022): a block has
// slots, and each slot has a bit in each of some columns. A key is a row of 128 coefficients for 128 consecutive slots;
// the rest are zero. The builder chooses the bits so that in each column the coefficients of every key, times the bits,
// add up to 0 modulo 2. For a non-member the sum is 0 by chance: in each column with probability one half.
//
// The fewer slots, the more columns fit. So each block has as few slots as its own number of keys allows, and its first
// word has their number. Then it costs nothing that the keys per block vary as Poisson's distribution does. A block
// with more keys than the filter was sized for has fewer columns; a ribbon of fixed size would let every sender pass.
//
// The other 511 words hold the slots in groups of 64: a group is one word for each of its columns. The first groups
// have one column more than the others, so that all words are used. A row lies in three consecutive groups: some 24
// words, which is three or four cache lines. Pure; safe from any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "filter/base/little_endian.hpp"
#include "filter/hash/hash.hpp"
#include "filter/layout/bits.hpp"

namespace bloomgate {

inline constexpr std::uint32_t kRibbonBlockBytes = 4096;
inline constexpr std::uint32_t kRibbonWords = kRibbonBlockBytes / 8 - 1;  // after the first word
inline constexpr std::uint32_t kRibbonGroupSlots = 64;
inline constexpr std::uint32_t kRibbonRowGroups = 3;  // that 128 coefficients may touch
// From 32 columns, where one non-member in 2^32 passes, down to one column.
inline constexpr std::uint32_t kLeastRibbonGroups = 16;
inline constexpr std::uint32_t kMostRibbonGroups = kRibbonWords;
// Rows cannot start in the last 128 slots, which would stay half empty. So the last possible start gets as many rows as
// this number of further slots would get.
inline constexpr std::uint32_t kRibbonLateStarts = 32;

// How the words of a block with that many groups are divided.
class RibbonGroups {
 public:
  // `count` must be from kLeastRibbonGroups to kMostRibbonGroups.
  constexpr explicit RibbonGroups(std::uint32_t count) noexcept
      : count_(count), columns_(kRibbonWords / count), wide_(kRibbonWords % count) {}

  constexpr std::uint32_t count() const noexcept { return count_; }
  constexpr std::uint32_t slots() const noexcept { return count_ * kRibbonGroupSlots; }
  // The number of groups that have a column more than the others; they come first.
  constexpr std::uint32_t wide() const noexcept { return wide_; }
  constexpr std::uint32_t columns_of(std::uint32_t group) const noexcept { return columns_ + (group < wide_ ? 1 : 0); }
  // The first word of a group, counted from the second word of the block.
  constexpr std::uint32_t begin_of(std::uint32_t group) const noexcept {
    return group * columns_ + std::min(group, wide_);
  }
  // From this group on, a row ends in a group without the additional column, and has only the columns of the others. 0:
  // all rows do.
  constexpr std::uint32_t first_mixed() const noexcept { return wide_ < kRibbonRowGroups ? 0 : wide_ - 2; }
  // The number of slots in which a row may start.
  constexpr std::uint32_t starts() const noexcept { return slots() - (kRibbonRowGroups - 1) * kRibbonGroupSlots; }

 private:
  std::uint32_t count_;
  std::uint32_t columns_;
  std::uint32_t wide_;
};

// A hash, mixed so that keys that share a block differ in its high bits. Different hashes give different places. Rows
// start in the order of their places, whatever the number of groups.
constexpr std::uint64_t ribbon_place(KeyHash hash) noexcept {
  return hash * kProbeMultiplier;
}

// The row of a key: where it starts, and the coefficients for the 64 slots of that group and of the next two.
struct RibbonRow {
  std::uint32_t start;  // the first slot; its coefficient is 1
  std::uint64_t words[kRibbonRowGroups] = {};

  constexpr std::uint32_t group() const noexcept { return start / kRibbonGroupSlots; }

  constexpr RibbonRow(std::uint64_t place, const RibbonGroups& groups) noexcept
      : start(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(multiply_high(place, groups.starts() + kRibbonLateStarts), groups.starts() - 1))) {
    const unsigned shift = start % kRibbonGroupSlots;
    // The finisher of Murmur3, since sums of rows must look random.
    std::uint64_t mixed = (place ^ place >> 33) * 0xff51afd7ed558ccd;
    mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53;
    mixed ^= mixed >> 33;
    const std::uint64_t low = mixed | 1;
    const std::uint64_t mixed_again = mixed * kProbeMultiplier;
    const std::uint64_t high = mixed_again ^ mixed_again >> 32;
    words[0] = low << shift;
    words[1] = high << shift | low >> 1 >> (63 - shift);
    words[2] = high >> 1 >> (63 - shift);
  }
};

// The first word of a block: the number of groups in its low 16 bits, and the number of different keys above them. A
// block without keys is all zeros.
inline std::uint32_t ribbon_group_count(const std::byte* block) noexcept {
  return load_little_endian<std::uint16_t>(block);
}
inline std::uint64_t ribbon_key_count(const std::byte* block) noexcept {
  return load_little_endian<std::uint64_t>(block) >> 16;
}
constexpr bool is_ribbon_group_count(std::uint32_t count) noexcept {
  return count >= kLeastRibbonGroups && count <= kMostRibbonGroups;
}

// Whether a key may be in the block. It reads no bytes outside the block, whatever the block has.
inline bool ribbon_may_contain(const std::byte* block, KeyHash hash) noexcept {
  const std::uint32_t count = ribbon_group_count(block);
  if (!is_ribbon_group_count(count)) return false;
  const RibbonGroups groups(count);
  const RibbonRow row(ribbon_place(hash), groups);
  const auto words_of = [&](std::uint32_t group) { return block + 8 * (1 + groups.begin_of(group)); };
  const std::byte* const first = words_of(row.group());
  const std::byte* const second = words_of(row.group() + 1);
  const std::byte* const third = words_of(row.group() + 2);
  const std::uint32_t columns = groups.columns_of(row.group() + 2);  // no other has fewer
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::uint64_t sum = (load_little_endian<std::uint64_t>(first + 8 * column) & row.words[0]) ^
                              (load_little_endian<std::uint64_t>(second + 8 * column) & row.words[1]) ^
                              (load_little_endian<std::uint64_t>(third + 8 * column) & row.words[2]);
    if (__builtin_parityll(sum) != 0) return false;
  }
  return true;
}

}  // namespace bloomgate
