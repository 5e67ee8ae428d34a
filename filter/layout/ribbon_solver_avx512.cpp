#include "filter/layout/ribbon_solver_avx512.hpp"

#ifdef __x86_64__
#include <immintrin.h>

#include <bit>

namespace bloomgate {
namespace {

using Lanes = RibbonLanes::Lanes;
using OpenRows = RibbonLanes::OpenRows;
using Coefficients = RibbonLanes::Coefficients;
constexpr std::uint32_t kLanes = RibbonLanes::kLanes;

// One register for all eight lanes.
struct EightLanes {
  // So many open rows, times eight, fit into the registers with all their coefficients.
  static constexpr std::uint32_t kOpenAtOnce = 4;

  static __m512i load(const Lanes& from) noexcept { return _mm512_load_si512(from.words.data()); }
  static __m512i fill(std::uint64_t word) noexcept { return _mm512_set1_epi64(static_cast<long long>(word)); }

  static unsigned lanes_with_bit(const Lanes& lanes, unsigned bit) noexcept {
    return _mm512_test_epi64_mask(load(lanes), fill(std::uint64_t{1} << bit));
  }

  static void add_where(OpenRows& rows, unsigned bit, const Coefficients& row) noexcept {
    const auto mask = static_cast<__mmask8>(lanes_with_bit(rows.groups[0], bit));
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
      const __m512i words = load(rows.groups[i]);
      _mm512_store_si512(rows.groups[i].words.data(), _mm512_mask_xor_epi64(words, mask, words, fill(row[i])));
    }
  }

  // The word of one of 32 lanes, in all lanes.
  static __m512i spread(const __m512i (&words)[kOpenAtOnce], std::uint32_t lane) noexcept {
    const __m512i index = fill(lane);
    const auto in_last = static_cast<__mmask8>(lane < 2 * kLanes ? 0 : 0xff);
    return _mm512_mask_mov_epi64(_mm512_permutex2var_epi64(words[0], index, words[1]), in_last,
                                 _mm512_permutex2var_epi64(words[2], index, words[3]));
  }

  // If the open rows fit into the registers, it uses no memory between two slots.
  static std::uint32_t take_slots(OpenRows* open, std::uint32_t count, Coefficients* rows, unsigned bit,
                                  std::uint32_t* freed) noexcept {
    if (count > kOpenAtOnce) return RibbonLanes::take_slots_one_by_one<EightLanes>(open, count, rows, bit, freed);
    std::uint32_t taken = 0;
    __m512i words[kRibbonRowGroups][kOpenAtOnce];
#pragma GCC unroll 8
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
#pragma GCC unroll 8
      for (std::uint32_t j = 0; j < kOpenAtOnce; ++j) words[i][j] = load(open[j].groups[i]);
    }
    for (std::uint32_t slot = 0; slot < RibbonLanes::kSlotsAtOnce; ++slot, ++bit) {
      const __m512i own = fill(std::uint64_t{1} << bit);
      std::array<__mmask8, kOpenAtOnce> having;
#pragma GCC unroll 8
      for (std::uint32_t j = 0; j < kOpenAtOnce; ++j) having[j] = _mm512_test_epi64_mask(words[0][j], own);
      std::uint64_t found = 0;
#pragma GCC unroll 8
      for (std::uint32_t j = 0; j < kOpenAtOnce; ++j) found |= std::uint64_t{having[j]} << (kLanes * j);
      if (found == 0) continue;
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(found));
#pragma GCC unroll 8
      for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
        const __m512i word = spread(words[i], lane);
        _mm512_mask_storeu_epi64(&rows[slot][i], 1, word);
#pragma GCC unroll 8
        for (std::uint32_t j = 0; j < kOpenAtOnce; ++j) {
          words[i][j] = _mm512_mask_xor_epi64(words[i][j], having[j], words[i][j], word);
        }
      }
      freed[taken++] = lane;
    }
#pragma GCC unroll 8
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
#pragma GCC unroll 8
      for (std::uint32_t j = 0; j < kOpenAtOnce; ++j) _mm512_store_si512(open[j].groups[i].words.data(), words[i][j]);
    }
    return taken;
  }

  // Each bit depends on the bits after it; the sums that do not are computed first.
  static void settle(Lanes* columns, std::uint32_t stride, const Coefficients* rows) noexcept {
    __m512i first = load(columns[0]);
    const __m512i second = load(columns[stride]);
    const __m512i third = load(columns[2 * stride]);
    for (std::uint32_t bit = kRibbonGroupSlots; bit-- > 0;) {
      const Coefficients& row = rows[bit];
      const __m512i own = fill(std::uint64_t{1} << bit);
      const __m512i later =
          _mm512_xor_si512(_mm512_and_si512(second, fill(row[1])), _mm512_and_si512(third, fill(row[2])));
      const __m512i ones = _mm512_popcnt_epi64(_mm512_xor_si512(_mm512_and_si512(first, fill(row[0])), later));
      const __mmask8 is_odd = _mm512_test_epi64_mask(ones, fill(1));
      first = _mm512_mask_or_epi64(first, is_odd, first, own);
    }
    _mm512_store_si512(columns[0].words.data(), first);
  }
};

}  // namespace

const RibbonLanes& RibbonLanes::avx512() noexcept {
  static constexpr RibbonLanes kThese = {EightLanes::kOpenAtOnce, EightLanes::take_slots, EightLanes::settle};
  return kThese;
}

}  // namespace bloomgate
#endif
