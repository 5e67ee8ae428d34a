#include "filter/layout/ribbon_solver.hpp"

#include <array>
#include <cstring>
#include <ranges>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#define BLOOMGATE_AVX512 [[gnu::target("avx512f,avx512vpopcntdq")]]

namespace bloomgate {
namespace {

constexpr std::uint32_t kLanes = 8;  // 64-bit words that are worked on at once

constexpr std::uint32_t kSlotsAtOnce = 8;  // whose rows are opened together

struct alignas(64) Lanes {
  std::array<std::uint64_t, kLanes> words = {};
};

// Some rows that have not got a slot yet: their coefficients for the group that is being worked on and the next two.
struct OpenRows {
  std::array<Lanes, kRibbonRowGroups> groups = {};
};

using Coefficients = std::array<std::uint64_t, kRibbonRowGroups>;

// Two lanes at a time: the largest registers that every 64-bit x86 has. Elsewhere the compiler does the same with
// words.
struct TwoLanes {
  using Pair = std::uint64_t __attribute__((vector_size(16)));
  static constexpr std::uint32_t kPairs = kLanes / 2;
  static constexpr std::uint32_t kOpenAtOnce = 0;

  static Pair load(const Lanes& from, std::uint32_t pair) noexcept {
    Pair value;
    std::memcpy(&value, from.words.data() + 2 * pair, sizeof value);
    return value;
  }
  static void store(Lanes& to, std::uint32_t pair, Pair value) noexcept {
    std::memcpy(to.words.data() + 2 * pair, &value, sizeof value);
  }

  // A bit for each lane that has that bit.
  static unsigned lanes_with_bit(const Lanes& lanes, unsigned bit) noexcept {
    unsigned found = 0;
#ifdef __SSE2__
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      const Pair shifted = load(lanes, pair) << (63 - bit);
      found |= static_cast<unsigned>(_mm_movemask_pd(reinterpret_cast<__m128d>(shifted))) << (2 * pair);
    }
#else
    for (std::uint32_t i = 0; i < kLanes; ++i) found |= static_cast<unsigned>(lanes.words[i] >> bit & 1) << i;
#endif
    return found;
  }

  // Adds a row to those that have that bit; to itself, too.
  static void add_where(OpenRows& rows, unsigned bit, const Coefficients& row) noexcept {
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      const Pair mask = -(load(rows.groups[0], pair) >> bit & 1);
      for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
        store(rows.groups[i], pair, load(rows.groups[i], pair) ^ (mask & row[i]));
      }
    }
  }

  // Chooses the bits of a group's slots in each column, the last slot's first, so that each row adds up to 0: `columns`
  // are those of the group, where these bits are still 0 if a row begins there, and of the next two.
  static void settle(Lanes* columns, std::uint32_t stride, const Coefficients* rows) noexcept {
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      Pair first = load(columns[0], pair);
      const Pair second = load(columns[stride], pair);
      const Pair third = load(columns[2 * stride], pair);
      for (std::uint32_t bit = kRibbonGroupSlots; bit-- > 0;) {
        const Coefficients& row = rows[bit];
        Pair sum = (first & row[0]) ^ (second & row[1]) ^ (third & row[2]);
        for (int half = 32; half != 0; half /= 2) sum ^= sum >> half;
        first |= (sum & 1) << bit;
      }
      store(columns[0], pair, first);
    }
  }
};

#ifdef __SSE2__
// The same with one register for all eight.
struct EightLanes {
  // So many open rows, times eight, fit into the registers with all their coefficients.
  static constexpr std::uint32_t kOpenAtOnce = 4;

  BLOOMGATE_AVX512 static __m512i load(const Lanes& from) noexcept { return _mm512_load_si512(from.words.data()); }
  BLOOMGATE_AVX512 static __m512i fill(std::uint64_t word) noexcept {
    return _mm512_set1_epi64(static_cast<long long>(word));
  }

  BLOOMGATE_AVX512 static unsigned lanes_with_bit(const Lanes& lanes, unsigned bit) noexcept {
    return _mm512_test_epi64_mask(load(lanes), fill(std::uint64_t{1} << bit));
  }

  BLOOMGATE_AVX512 static void add_where(OpenRows& rows, unsigned bit, const Coefficients& row) noexcept {
    const auto mask = static_cast<__mmask8>(lanes_with_bit(rows.groups[0], bit));
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
      const __m512i words = load(rows.groups[i]);
      _mm512_store_si512(rows.groups[i].words.data(), _mm512_mask_xor_epi64(words, mask, words, fill(row[i])));
    }
  }

  // The word of one of 32 lanes, in all lanes.
  BLOOMGATE_AVX512 static __m512i spread(const __m512i (&words)[kOpenAtOnce], std::uint32_t lane) noexcept {
    const __m512i index = fill(lane);
    const auto in_last = static_cast<__mmask8>(lane < 2 * kLanes ? 0 : 0xff);
    return _mm512_mask_mov_epi64(_mm512_permutex2var_epi64(words[0], index, words[1]), in_last,
                                 _mm512_permutex2var_epi64(words[2], index, words[3]));
  }

  // take_slot() for kSlotsAtOnce slots from `bit` on, without a trip to memory between two of them.
  BLOOMGATE_AVX512 static void take_slots(OpenRows* open, std::vector<std::uint32_t>& free_lanes, Coefficients* rows,
                                          unsigned bit) {
    __m512i words[kRibbonRowGroups][kOpenAtOnce];
#pragma GCC unroll 8
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
#pragma GCC unroll 8
      for (std::uint32_t j = 0; j < kOpenAtOnce; ++j) words[i][j] = load(open[j].groups[i]);
    }
    for (std::uint32_t slot = 0; slot < kSlotsAtOnce; ++slot, ++bit) {
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
      free_lanes.push_back(lane);
    }
#pragma GCC unroll 8
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
#pragma GCC unroll 8
      for (std::uint32_t j = 0; j < kOpenAtOnce; ++j) _mm512_store_si512(open[j].groups[i].words.data(), words[i][j]);
    }
  }

  // Each bit depends on those behind it, so what does not is added up first.
  BLOOMGATE_AVX512 static void settle(Lanes* columns, std::uint32_t stride, const Coefficients* rows) noexcept {
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
#endif

// Sebastiano Vigna's splitmix64: a word that looks random, from a number.
constexpr std::uint64_t random_word(std::uint64_t number) noexcept {
  number = (number + 1) * 0x9e3779b97f4a7c15;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

}  // namespace

// Rows become independent of each other in the order of the slots: of the open rows that have a coefficient there, one
// gets the slot and is added to the others, which then have none. Only the rows of the last 128 slots are open, and of
// these only those that others have displaced: some fifteen. So the work is on a few registers, without a jump that
// depends on a row.
struct RibbonSolver::Slots {
  // The rows that have no slot yet are in lanes. A lane of zeros is free, whether or not it is among the free lanes.
  std::vector<OpenRows> open;
  std::vector<std::uint32_t> free_lanes;
  std::vector<Coefficients> rows;  // of each slot, from its group on; zeros where no row begins
  // Where the column ends that only the wide groups have: what would be in the rows of their last two groups if no row
  // began there.
  std::vector<Coefficients> last_wide_rows;
  std::vector<Lanes> columns;  // the bits: of each group its columns, in `stride` lanes
  std::uint32_t stride = 0;

  // The new ones are the last to be used.
  void add_lanes() {
    std::array<std::uint32_t, kLanes> added;
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      added[i] = static_cast<std::uint32_t>(open.size()) * kLanes + kLanes - 1 - i;
    }
    free_lanes.insert(free_lanes.begin(), added.begin(), added.end());
    open.emplace_back();
  }

  void add(const RibbonRow& row) {
    if (free_lanes.empty()) add_lanes();
    put(free_lanes.back(), {row.words[0], row.words[1], row.words[2]});
    free_lanes.pop_back();
  }

  Coefficients row_in(std::uint32_t lane) const noexcept {
    const OpenRows& rows_of_lane = open[lane / kLanes];
    Coefficients row;
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) row[i] = rows_of_lane.groups[i].words[lane % kLanes];
    return row;
  }

  void put(std::uint32_t lane, const Coefficients& row) noexcept {
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) open[lane / kLanes].groups[i].words[lane % kLanes] = row[i];
  }

  std::uint64_t& column(std::uint32_t group, std::uint32_t index) noexcept {
    return columns[std::size_t{group} * stride + index / kLanes].words[index % kLanes];
  }

  // The bits of a group's slots where no row begins may be anything. Each word of the block has its own random number.
  void draw_unused(const Coefficients* rows_of_group, std::uint64_t salt, std::span<std::uint64_t> words) noexcept {
    std::uint64_t unused = 0;
    for (std::uint32_t bit = 0; bit < kRibbonGroupSlots; ++bit) {
      unused |= (~rows_of_group[bit][0] >> bit & 1) << bit;
    }
    for (std::uint64_t& word : words) word = random_word(salt++) & unused;
  }

  // On to the next group. The rows that are left move to the first lanes. Gives their number.
  std::uint32_t next_group() {
    const auto lanes = static_cast<std::uint32_t>(open.size()) * kLanes;
    std::uint32_t left = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const Coefficients row = row_in(lane);
      put(lane, {});
      if ((row[1] | row[2]) != 0) put(left++, {row[1], row[2], 0});
    }
    open.resize((left + kLanes - 1) / kLanes);
    free_lanes.clear();
    for (auto lane = static_cast<std::uint32_t>(open.size()) * kLanes; lane-- > left;) free_lanes.push_back(lane);
    return left;
  }
};

namespace {

// Gives the slot to one of the rows that have a coefficient there, if there are any.
template <typename Registers>
[[gnu::always_inline]] inline void take_slot(RibbonSolver::Slots& slots, std::uint32_t slot) {
  const unsigned bit = slot % kRibbonGroupSlots;
  const auto count = static_cast<std::uint32_t>(slots.open.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const unsigned found = Registers::lanes_with_bit(slots.open[i].groups[0], bit);
    if (found == 0) continue;
    const std::uint32_t lane = i * kLanes + static_cast<std::uint32_t>(std::countr_zero(found));
    const Coefficients row = slots.row_in(lane);
    slots.rows[slot] = row;
    for (; i < count; ++i) Registers::add_where(slots.open[i], bit, row);
    slots.free_lanes.push_back(lane);
    return;
  }
}

// The same for kSlotsAtOnce of them.
template <typename Registers>
[[gnu::always_inline]] inline void take_slots(RibbonSolver::Slots& slots, std::uint32_t begin) {
  if constexpr (Registers::kOpenAtOnce != 0) {
    if (slots.open.size() <= Registers::kOpenAtOnce) {
      while (slots.open.size() < Registers::kOpenAtOnce) slots.add_lanes();
      Registers::take_slots(slots.open.data(), slots.free_lanes, slots.rows.data() + begin, begin % kRibbonGroupSlots);
      return;
    }
  }
  for (std::uint32_t slot = begin; slot < begin + kSlotsAtOnce; ++slot) take_slot<Registers>(slots, slot);
}

// Whether that many rows may be open with that many slots to go. Where rows crowd, some of them and nearly all rows of
// strangers follow from the others; before that they queue up.
constexpr bool is_crowded(std::uint32_t open, std::uint32_t slots_left) noexcept {
  constexpr std::uint32_t kMostOpen = 96;  // of 128 that can be independent
  constexpr std::uint32_t kSpare = 24;
  return open > kMostOpen || open + kSpare > slots_left;
}

// Gives the slots of two groups to the rows that are open, as if there were no others, and keeps who got them.
template <typename Registers>
[[gnu::always_inline]] inline bool place_last_wide_rows(std::uint32_t begin, bool allow_crowded,
                                                        RibbonSolver::Slots& slots) {
  const auto open = slots.open;
  const auto free_lanes = slots.free_lanes;
  const auto rows = slots.rows.begin() + begin;
  for (std::uint32_t slot = 0; slot < kRibbonGroupSlots; ++slot) take_slot<Registers>(slots, begin + slot);
  const bool crowded = is_crowded(slots.next_group(), kRibbonGroupSlots);
  for (std::uint32_t slot = kRibbonGroupSlots; slot < 2 * kRibbonGroupSlots; ++slot) {
    take_slot<Registers>(slots, begin + slot);
  }
  slots.last_wide_rows.assign(rows, rows + 2 * kRibbonGroupSlots);
  std::fill_n(rows, 2 * kRibbonGroupSlots, Coefficients{});
  slots.open = open;
  slots.free_lanes = free_lanes;
  return allow_crowded || !crowded;
}

// Gives each row its slot. False if they are too crowded for that and `crowded` was not allowed.
template <typename Registers>
[[gnu::always_inline]] inline bool place_rows(std::span<const std::uint64_t> places, const RibbonGroups& groups,
                                              bool allow_crowded, RibbonSolver::Slots& slots) {
  slots.open.clear();
  slots.free_lanes.clear();
  slots.rows.assign(groups.slots(), {});
  auto next = places.begin();
  for (std::uint32_t begin = 0; begin < groups.slots(); begin += kSlotsAtOnce) {
    if (begin != 0 && begin % kRibbonGroupSlots == 0) {
      const std::uint32_t open = slots.next_group();
      if (!allow_crowded && is_crowded(open, groups.slots() - begin)) return false;
      if (begin == groups.first_mixed() * kRibbonGroupSlots &&
          !place_last_wide_rows<Registers>(begin, allow_crowded, slots)) {
        return false;
      }
    }
    for (; next != places.end(); ++next) {
      const RibbonRow row(*next, groups);
      if (row.start >= begin + kSlotsAtOnce) break;
      slots.add(row);
    }
    take_slots<Registers>(slots, begin);
  }
  return true;
}

template <typename Registers>
[[gnu::always_inline]] inline void settle_group(const RibbonGroups& groups, std::uint32_t group, std::uint64_t salt,
                                                RibbonSolver::Slots& slots) {
  Lanes* const columns = slots.columns.data() + std::size_t{group} * slots.stride;
  const Coefficients* const rows = slots.rows.data() + std::size_t{group} * kRibbonGroupSlots;
  slots.draw_unused(rows, salt + groups.begin_of(group), {columns->words.data(), groups.columns_of(group)});
  for (std::uint32_t i = 0; i < slots.stride; ++i) Registers::settle(columns + i, slots.stride, rows);
}

// The last column of a wide group, where narrow ones begin, once more. It must suit only the rows that end in wide
// groups. With all rows its bits would all be 0, since behind it no bit can be chosen.
template <typename Registers>
[[gnu::always_inline]] inline void settle_last_wide_column(const RibbonGroups& groups, std::uint32_t group,
                                                           std::uint64_t salt, RibbonSolver::Slots& slots) {
  const std::uint32_t column = groups.columns_of(0) - 1;
  Lanes& lanes = slots.columns[std::size_t{group} * slots.stride + column / kLanes];
  const Coefficients* const rows =
      slots.last_wide_rows.data() + std::size_t{group - groups.first_mixed()} * kRibbonGroupSlots;
  Lanes kept = lanes;
  std::uint64_t& word = lanes.words[column % kLanes];
  slots.draw_unused(rows, salt + groups.begin_of(group) + column, {&word, 1});
  Registers::settle(&lanes, slots.stride, rows);
  kept.words[column % kLanes] = word;
  lanes = kept;
}

// Finds the bits of all columns, from the last slot to the first.
template <typename Registers>
[[gnu::always_inline]] inline void choose_bits(const RibbonGroups& groups, std::uint64_t salt,
                                               RibbonSolver::Slots& slots) {
  slots.stride = (groups.columns_of(0) + kLanes - 1) / kLanes;
  slots.columns.assign(std::size_t{groups.count() + kRibbonRowGroups - 1} * slots.stride, {});
  for (std::uint32_t group = groups.count(); group-- > 0;) {
    settle_group<Registers>(groups, group, salt, slots);
    if (groups.first_mixed() != 0 && group >= groups.first_mixed() && group < groups.wide()) {
      settle_last_wide_column<Registers>(groups, group, salt, slots);
    }
  }
}

// Tries with one group more until the rows are not crowded. Gives the number of groups.
template <typename Registers>
[[gnu::always_inline]] inline RibbonGroups solve_with(std::span<const std::uint64_t> places, std::uint32_t least_groups,
                                                      std::uint64_t salt, RibbonSolver::Slots& slots) {
  constexpr std::uint32_t kMostTries = 8;
  const std::uint32_t most_groups = std::min(least_groups + kMostTries - 1, kMostRibbonGroups);
  std::uint32_t count = least_groups;
  while (!place_rows<Registers>(places, RibbonGroups(count), count == most_groups, slots)) ++count;
  const RibbonGroups groups(count);
  choose_bits<Registers>(groups, salt, slots);
  return groups;
}

RibbonGroups solve_with_two_lanes(std::span<const std::uint64_t> places, std::uint32_t least_groups, std::uint64_t salt,
                                  RibbonSolver::Slots& slots) {
  return solve_with<TwoLanes>(places, least_groups, salt, slots);
}

#ifdef __SSE2__
BLOOMGATE_AVX512 RibbonGroups solve_with_eight_lanes(std::span<const std::uint64_t> places, std::uint32_t least_groups,
                                                     std::uint64_t salt, RibbonSolver::Slots& slots) {
  return solve_with<EightLanes>(places, least_groups, salt, slots);
}
#endif

}  // namespace

#undef BLOOMGATE_AVX512

std::uint32_t ribbon_groups_for(std::uint64_t keys) noexcept {
  std::uint32_t few = kLeastRibbonGroups - 1;  // too few, or the least
  std::uint32_t enough = kMostRibbonGroups + 1;
  while (enough - few > 1) {
    const std::uint32_t middle = (few + enough) / 2;
    (keys <= most_ribbon_keys(middle) ? enough : few) = middle;
  }
  return enough;
}

bool RibbonSolver::has_512_bits() noexcept {
#ifdef __SSE2__
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vpopcntdq") != 0;
#else
  return false;
#endif
}

RibbonSolver::RibbonSolver(Registers registers)
    : wide_(registers == Registers::of_512_bits || (registers == Registers::any && has_512_bits())),
      slots_(std::make_unique<Slots>()) {}

RibbonSolver::~RibbonSolver() = default;

namespace {

// Insertion sort, for values of which few are far from their places. If many are, the rest of the work is done
// otherwise.
void finish_order(std::span<std::uint64_t> values) noexcept {
  std::size_t moves_left = 8 * values.size();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::uint64_t value = values[i];
    if (values[i - 1] <= value) continue;
    std::size_t at = i;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
    if (i - at > moves_left) {
      std::ranges::sort(values);
      return;
    }
    moves_left -= i - at;
  }
}

}  // namespace

// By their high bits first; then few are not in order, as the hashes are even.
void RibbonSolver::sort(std::span<const KeyHash> keys) {
  const auto bits = std::clamp<unsigned>(static_cast<unsigned>(std::bit_width(keys.size())), 1, 15);
  const unsigned shift = 64 - bits;
  bucket_ends_.assign((std::size_t{1} << bits) + 1, 0);
  for (const KeyHash key : keys) ++bucket_ends_[(ribbon_place(key) >> shift) + 1];
  for (std::size_t i = 1; i < bucket_ends_.size(); ++i) bucket_ends_[i] += bucket_ends_[i - 1];
  places_.resize(keys.size());
  for (const KeyHash key : keys) {
    const std::uint64_t place = ribbon_place(key);
    places_[bucket_ends_[place >> shift]++] = place;
  }
  finish_order(places_);
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
}

void RibbonSolver::solve(std::span<const KeyHash> keys, std::uint64_t salt, std::byte* block) {
  std::fill_n(block, kRibbonBlockBytes, std::byte{0});
  if (keys.empty()) return;
  sort(keys);
  const std::uint32_t wanted = ribbon_groups_for(places_.size());
  const auto keys_word = std::uint64_t{places_.size()} << 16;
  if (wanted > kMostRibbonGroups) return store_little_endian(block, keys_word | kMostRibbonGroups);  // all sums are 0
#ifdef __SSE2__
  const auto solve = wide_ ? solve_with_eight_lanes : solve_with_two_lanes;
#else
  const auto solve = solve_with_two_lanes;
#endif
  const RibbonGroups groups = solve(places_, wanted, salt, *slots_);
  store_little_endian(block, keys_word | groups.count());
  std::byte* to = block + sizeof(std::uint64_t);
  for (std::uint32_t group = 0; group < groups.count(); ++group) {
    for (std::uint32_t column = 0; column < groups.columns_of(group); ++column, to += sizeof(std::uint64_t)) {
      const bool unused = groups.first_mixed() == 0 && column >= groups.columns_of(groups.count() - 1);
      store_little_endian(to, unused ? 0 : slots_->column(group, column));
    }
  }
}

}  // namespace bloomgate
