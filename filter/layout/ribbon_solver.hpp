// Makes the blocks of the layout ribbon: finds bits with which the row of every key adds up to 0 in every column. There
// is always a solution, since all zeros is one; a key whose row follows from those of others changes nothing. Of all
// the solutions, the seed selects one, so that rows of non-members add up to 0 only by chance. The same keys give the
// same bytes, in any order and however often a key comes.
//
// Cost: some 25 ns a key, in the cache. An object keeps its memory from block to block; each thread has its own object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "filter/hash/hash.hpp"
#include "filter/layout/ribbon_block.hpp"

namespace bloomgate {

// The most keys for which a block is tried with that many groups. It gets more groups if the rows of its keys crowd in
// some part of it: rows of non-members would there follow from theirs.
constexpr std::uint32_t most_ribbon_keys(std::uint32_t groups) noexcept {
  // Tuned: with 1.025 slots a key one block in twenty-five needs a second try.
  return groups * kRibbonGroupSlots * 1024 / 1050;
}

// The groups for that many keys, at least 1; more than kMostRibbonGroups if no block can hold so many.
std::uint32_t ribbon_groups_for(std::uint64_t keys) noexcept;

class RibbonSolver {
 public:
  enum class Registers : std::uint8_t { of_128_bits, any };  // any: the largest that the processor has

  // A test may ask for the smaller registers.
  explicit RibbonSolver(Registers registers = Registers::any);
  ~RibbonSolver();
  RibbonSolver(const RibbonSolver&) = delete;
  RibbonSolver& operator=(const RibbonSolver&) = delete;

  // Writes the block of these keys to `block`, which has kRibbonBlockBytes. The keys may come in any order, and some of
  // them twice. `salt` must differ from block to block; it depends on the filter's seed. If there are more keys than a
  // block can hold, every non-member passes. Throws std::bad_alloc.
  void solve(std::span<const KeyHash> keys, std::uint64_t salt, std::byte* block);

  // The working data of RibbonLanes, whose implementation depends on the processor.
  struct Slots;

 private:
  void sort(std::span<const KeyHash> keys);

  std::vector<std::uint64_t> places_;  // of the keys, ascending, each once
  std::vector<std::uint32_t> bucket_ends_;
  std::unique_ptr<Slots> slots_;
};

}  // namespace bloomgate
