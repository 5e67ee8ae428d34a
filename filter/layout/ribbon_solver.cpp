#include "filter/layout/ribbon_solver.hpp"

#include <array>
#include <cstring>
#include <ranges>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "filter/base/processor.hpp"
#include "filter/layout/ribbon_solver_avx512.hpp"

namespace bloomgate {
namespace {

using Lanes = RibbonLanes::Lanes;
using OpenRows = RibbonLanes::OpenRows;
using Coefficients = RibbonLanes::Coefficients;
constexpr std::uint32_t kLanes = RibbonLanes::kLanes;
constexpr std::uint32_t kSlotsAtOnce = RibbonLanes::kSlotsAtOnce;

// Two lanes at a time, the largest registers that every 64-bit x86 processor has. On other processors the compiler does
// the same with words.
struct TwoLanes {
  using Pair = std::uint64_t __attribute__((vector_size(16)));
  static constexpr std::uint32_t kPairs = kLanes / 2;

  static Pair load(const Lanes& from, std::uint32_t pair) noexcept {
    Pair value;
    std::memcpy(&value, from.words.data() + 2 * pair, sizeof value);
    return value;
  }
  static void store(Lanes& to, std::uint32_t pair, Pair value) noexcept {
    std::memcpy(to.words.data() + 2 * pair, &value, sizeof value);
  }

  // A bit for each lane whose word has that bit.
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

  // Adds a row to all rows that have that bit, including itself.
  static void add_where(OpenRows& rows, unsigned bit, const Coefficients& row) noexcept {
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      const Pair mask = -(load(rows.groups[0], pair) >> bit & 1);
      for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) {
        store(rows.groups[i], pair, load(rows.groups[i], pair) ^ (mask & row[i]));
      }
    }
  }

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

// splitmix64 by Sebastiano Vigna: makes a random-looking word from a number.
constexpr std::uint64_t random_word(std::uint64_t number) noexcept {
  number = (number + 1) * 0x9e3779b97f4a7c15;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

}  // namespace

// Rows become independent of each other in the order of the slots: for each slot, one of the open rows that have a
// coefficient there gets the slot, and is added to the others, which then have no coefficient there. Only rows of the
// last 128 slots are open, and of these only rows that others have displaced: some fifteen. So the work is on a few
// registers, without a branch that depends on a row.
struct RibbonSolver::Slots {
  // The rows that have no slot yet are in lanes. A lane of zeros is free, whether or not it is among the free lanes.
  std::vector<OpenRows> open;
  std::vector<std::uint32_t> free_lanes;  // the first free_count of them
  std::size_t free_count = 0;
  std::vector<Coefficients> rows;  // of each slot, from its group on; zeros if no row begins there
  // For the end of the column that only the wide groups have: what the rows of their last two groups would be if no row
  // began after them.
  std::vector<Coefficients> last_wide_rows;
  std::vector<Lanes> columns;  // the bits: of each group its columns, in `stride` lanes
  std::uint32_t stride = 0;
  const RibbonLanes& lanes;

  explicit Slots(const RibbonLanes& used) noexcept : lanes(used) {}

  // The new lanes are used last.
  void add_lanes() {
    std::array<std::uint32_t, kLanes> added;
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      added[i] = static_cast<std::uint32_t>(open.size()) * kLanes + kLanes - 1 - i;
    }
    free_lanes.insert(free_lanes.begin(), added.begin(), added.end());
    free_count += kLanes;
    open.emplace_back();
  }

  void add(const RibbonRow& row) {
    if (free_count == 0) add_lanes();
    put(free_lanes[--free_count], {row.words[0], row.words[1], row.words[2]});
  }

  void put(std::uint32_t lane, const Coefficients& row) noexcept {
    for (std::uint32_t i = 0; i < kRibbonRowGroups; ++i) open[lane / kLanes].groups[i].words[lane % kLanes] = row[i];
  }

  std::uint64_t& column(std::uint32_t group, std::uint32_t index) noexcept {
    return columns[std::size_t{group} * stride + index / kLanes].words[index % kLanes];
  }

  // The bits of a group's slots where no row begins may be anything. Each word of the block gets its own random number.
  void draw_unused(const Coefficients* rows_of_group, std::uint64_t salt, std::span<std::uint64_t> words) noexcept {
    std::uint64_t unused = 0;
    for (std::uint32_t bit = 0; bit < kRibbonGroupSlots; ++bit) {
      unused |= (~rows_of_group[bit][0] >> bit & 1) << bit;
    }
    for (std::uint64_t& word : words) word = random_word(salt++) & unused;
  }

  // Assigns kSlotsAtOnce slots to the open rows.
  void take_slots(std::uint32_t begin) {
    while (open.size() < lanes.least_open) add_lanes();
    free_count += lanes.take_slots(open.data(), static_cast<std::uint32_t>(open.size()), rows.data() + begin,
                                   begin % kRibbonGroupSlots, free_lanes.data() + free_count);
  }

  // Moves on to the next group. The remaining rows move to the first lanes. Returns their number.
  std::uint32_t next_group() {
    const auto end = static_cast<std::uint32_t>(open.size()) * kLanes;
    std::uint32_t left = 0;
    for (std::uint32_t lane = 0; lane < end; ++lane) {
      const Coefficients row = RibbonLanes::row_in(open.data(), lane);
      put(lane, {});
      if ((row[1] | row[2]) != 0) put(left++, {row[1], row[2], 0});
    }
    open.resize((left + kLanes - 1) / kLanes);
    free_lanes.resize(open.size() * kLanes);
    free_count = 0;
    for (auto lane = static_cast<std::uint32_t>(open.size()) * kLanes; lane-- > left;) free_lanes[free_count++] = lane;
    return left;
  }
};

namespace {

// Whether that many open rows are too many if that many slots are left. If rows are crowded, some of them, and nearly
// all rows of non-members, follow from the others; before that, open rows accumulate.
constexpr bool is_crowded(std::uint32_t open, std::uint32_t slots_left) noexcept {
  constexpr std::uint32_t kMostOpen = 96;  // of 128 that can be independent
  constexpr std::uint32_t kSpare = 24;
  return open > kMostOpen || open + kSpare > slots_left;
}

// Assigns the slots of two groups to the open rows, as if there were no others, and stores which row got which.
bool place_last_wide_rows(std::uint32_t begin, bool allow_crowded, RibbonSolver::Slots& slots) {
  const auto open = slots.open;
  const auto free_lanes = slots.free_lanes;
  const auto free_count = slots.free_count;
  const auto rows = slots.rows.begin() + begin;
  const auto take_group = [&](std::uint32_t first) {
    for (std::uint32_t slot = 0; slot < kRibbonGroupSlots; slot += kSlotsAtOnce) slots.take_slots(first + slot);
  };
  take_group(begin);
  const bool crowded = is_crowded(slots.next_group(), kRibbonGroupSlots);
  take_group(begin + kRibbonGroupSlots);
  slots.last_wide_rows.assign(rows, rows + 2 * kRibbonGroupSlots);
  std::fill_n(rows, 2 * kRibbonGroupSlots, Coefficients{});
  slots.open = open;
  slots.free_lanes = free_lanes;
  slots.free_count = free_count;
  return allow_crowded || !crowded;
}

// Assigns a slot to each row. Returns false if they are too crowded for that and `allow_crowded` is false.
bool place_rows(std::span<const std::uint64_t> places, const RibbonGroups& groups, bool allow_crowded,
                RibbonSolver::Slots& slots) {
  slots.open.clear();
  slots.free_lanes.clear();
  slots.free_count = 0;
  slots.rows.assign(groups.slots(), {});
  auto next = places.begin();
  for (std::uint32_t begin = 0; begin < groups.slots(); begin += kSlotsAtOnce) {
    if (begin != 0 && begin % kRibbonGroupSlots == 0) {
      const std::uint32_t open = slots.next_group();
      if (!allow_crowded && is_crowded(open, groups.slots() - begin)) return false;
      if (begin == groups.first_mixed() * kRibbonGroupSlots && !place_last_wide_rows(begin, allow_crowded, slots)) {
        return false;
      }
    }
    for (; next != places.end(); ++next) {
      const RibbonRow row(*next, groups);
      if (row.start >= begin + kSlotsAtOnce) break;
      slots.add(row);
    }
    slots.take_slots(begin);
  }
  return true;
}

void settle_group(const RibbonGroups& groups, std::uint32_t group, std::uint64_t salt, RibbonSolver::Slots& slots) {
  Lanes* const columns = slots.columns.data() + std::size_t{group} * slots.stride;
  const Coefficients* const rows = slots.rows.data() + std::size_t{group} * kRibbonGroupSlots;
  slots.draw_unused(rows, salt + groups.begin_of(group), {columns->words.data(), groups.columns_of(group)});
  for (std::uint32_t i = 0; i < slots.stride; ++i) slots.lanes.settle(columns + i, slots.stride, rows);
}

// Solves the last column of a wide group, where narrow groups begin, once more. It must suit only the rows that end in
// wide groups. With all rows its bits would all be 0, since the groups after it have no bits to choose in this column.
void settle_last_wide_column(const RibbonGroups& groups, std::uint32_t group, std::uint64_t salt,
                             RibbonSolver::Slots& slots) {
  const std::uint32_t column = groups.columns_of(0) - 1;
  Lanes& lanes = slots.columns[std::size_t{group} * slots.stride + column / kLanes];
  const Coefficients* const rows =
      slots.last_wide_rows.data() + std::size_t{group - groups.first_mixed()} * kRibbonGroupSlots;
  Lanes kept = lanes;
  std::uint64_t& word = lanes.words[column % kLanes];
  slots.draw_unused(rows, salt + groups.begin_of(group) + column, {&word, 1});
  slots.lanes.settle(&lanes, slots.stride, rows);
  kept.words[column % kLanes] = word;
  lanes = kept;
}

// Finds the bits of all columns, from the last slot to the first.
void choose_bits(const RibbonGroups& groups, std::uint64_t salt, RibbonSolver::Slots& slots) {
  slots.stride = (groups.columns_of(0) + kLanes - 1) / kLanes;
  slots.columns.assign(std::size_t{groups.count() + kRibbonRowGroups - 1} * slots.stride, {});
  for (std::uint32_t group = groups.count(); group-- > 0;) {
    settle_group(groups, group, salt, slots);
    if (groups.first_mixed() != 0 && group >= groups.first_mixed() && group < groups.wide()) {
      settle_last_wide_column(groups, group, salt, slots);
    }
  }
}

// Tries one group more each time until the rows are not crowded. Returns the number of groups.
RibbonGroups solve_with(std::span<const std::uint64_t> places, std::uint32_t least_groups, std::uint64_t salt,
                        RibbonSolver::Slots& slots) {
  constexpr std::uint32_t kMostTries = 8;
  const std::uint32_t most_groups = std::min(least_groups + kMostTries - 1, kMostRibbonGroups);
  std::uint32_t count = least_groups;
  while (!place_rows(places, RibbonGroups(count), count == most_groups, slots)) ++count;
  const RibbonGroups groups(count);
  choose_bits(groups, salt, slots);
  return groups;
}

constexpr RibbonLanes kTwoLanes = {0, RibbonLanes::take_slots_one_by_one<TwoLanes>, TwoLanes::settle};

const RibbonLanes& lanes_of(RibbonSolver::Registers registers) noexcept {
#ifdef __x86_64__
  if (registers != RibbonSolver::Registers::of_128_bits && processor().avx512_popcnt) return RibbonLanes::avx512();
#endif
  static_cast<void>(registers);
  return kTwoLanes;
}

}  // namespace

std::uint32_t ribbon_groups_for(std::uint64_t keys) noexcept {
  std::uint32_t few = kLeastRibbonGroups - 1;  // too few, or below the minimum
  std::uint32_t enough = kMostRibbonGroups + 1;
  while (enough - few > 1) {
    const std::uint32_t middle = (few + enough) / 2;
    (keys <= most_ribbon_keys(middle) ? enough : few) = middle;
  }
  return enough;
}

RibbonSolver::RibbonSolver(Registers registers) : slots_(std::make_unique<Slots>(lanes_of(registers))) {}

RibbonSolver::~RibbonSolver() = default;

namespace {

// Insertion sort, for values of which few are far from their final positions. If many are, it hands the rest over to
// another sort.
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

// Sorts by the high bits first; then few places are out of order, as the hashes are even.
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
  const RibbonGroups groups = solve_with(places_, wanted, salt, *slots_);
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
