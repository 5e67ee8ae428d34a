// The work of RibbonSolver on registers: rows and columns in lanes of 64 bits, eight at a time. ribbon_solver.cpp has
// it for every processor, ribbon_solver_avx512.cpp for those with larger registers. Both give the same bits.
#pragma once

#include <array>
#include <cstdint>

#include "filter/layout/ribbon_block.hpp"

namespace bloomgate {

struct RibbonLanes {
  static constexpr std::uint32_t kLanes = 8;        // 64-bit words that are processed at once
  static constexpr std::uint32_t kSlotsAtOnce = 8;  // slots whose rows are opened together

  struct alignas(64) Lanes {
    std::array<std::uint64_t, kLanes> words = {};
  };

  // Some rows that have no slot yet: their coefficients for the current group and the next two.
  struct OpenRows {
    std::array<Lanes, kRibbonRowGroups> groups = {};
  };

  using Coefficients = std::array<std::uint64_t, kRibbonRowGroups>;

  // take_slots() is called with at least so many open rows, times eight.
  std::uint32_t least_open;

  // Assigns each of the kSlotsAtOnce slots from `bit` on to an open row that has a coefficient there, if there is one.
  // The row goes to `rows`, and its lane, which is then free, to `freed`. Returns how many rows got a slot.
  std::uint32_t (*take_slots)(OpenRows* open, std::uint32_t count, Coefficients* rows, unsigned bit,
                              std::uint32_t* freed) noexcept;

  // Chooses the bits of a group's slots in each column, from the last slot to the first, so that each row adds up to 0.
  // `columns` are those of the group and of the next two. The bits of a slot where a row begins must still be 0.
  void (*settle)(Lanes* columns, std::uint32_t stride, const Coefficients* rows) noexcept;

  // For processors with AVX-512 VPOPCNTDQ.
  static const RibbonLanes& avx512() noexcept;

  static Coefficients row_in(const OpenRows* open, std::uint32_t lane) noexcept;

  // take_slots() with any number of open rows.
  template <typename Registers>
  static std::uint32_t take_slots_one_by_one(OpenRows* open, std::uint32_t count, Coefficients* rows, unsigned bit,
                                             std::uint32_t* freed) noexcept;
};

[[gnu::always_inline]] inline RibbonLanes::Coefficients RibbonLanes::row_in(const OpenRows* open,
                                                                            std::uint32_t lane) noexcept {
  Coefficients row;
  for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) row[i] = open[lane / kLanes].groups[i].words[lane % kLanes];
  return row;
}

template <typename Registers>
[[gnu::always_inline]] inline std::uint32_t RibbonLanes::take_slots_one_by_one(OpenRows* open, std::uint32_t count,
                                                                               Coefficients* rows, unsigned bit,
                                                                               std::uint32_t* freed) noexcept {
  std::uint32_t taken = 0;
  for (const unsigned end = bit + kSlotsAtOnce; bit < end; ++bit, ++rows) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const unsigned found = Registers::lanes_with_bit(open[i].groups[0], bit);
      if (found == 0) continue;
      const std::uint32_t lane = i * kLanes + static_cast<std::uint32_t>(std::countr_zero(found));
      const Coefficients row = row_in(open, lane);
      *rows = row;
      for (; i < count; ++i) Registers::add_where(open[i], bit, row);
      freed[taken++] = lane;
    }
  }
  return taken;
}

}  // namespace bloomgate
