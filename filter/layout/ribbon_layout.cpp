// The layout ribbon: instead of bits that are set and tested, each page of memory has equations that hold for all
// entries and rarely for non-members. At 8 bits per entry it has a quarter of the false positives of the layout page,
// and a look-up still touches one page. The price: a block is made at once, so that nothing can be added to a filter,
// and two filters cannot be merged. See ribbon_block.hpp and ribbon_solver.hpp.
#include <limits>

#include "filter/layout/bits.hpp"
#include "filter/layout/layout_rules.hpp"
#include "filter/layout/ribbon_block.hpp"
#include "filter/layout/ribbon_rate.hpp"
#include "filter/layout/ribbon_solver.hpp"

namespace bloomgate {
namespace {

std::uint64_t block_number(const FilterShape& shape, KeyHash hash) noexcept {
  return multiply_high(hash, shape.block_count);
}

// Prefetches the first word of the block and the cache lines with the row. Their position depends on the first word,
// but not much: it is at the same share of the block as the start of the row, or up to two lines after that.
void prefetch_row(const std::byte* block, KeyHash hash) noexcept {
  constexpr std::uint32_t kLines = 6;
  prefetch_bit(block, 0);
  const std::uint64_t begin = 8 + 8 * multiply_high(ribbon_place(hash), kRibbonWords - 3);
  for (std::uint32_t i = 0; i < kLines; ++i) {
    prefetch_bit(block, 8 * std::min<std::uint64_t>(begin + i * kCacheLineBytes, kRibbonBlockBytes - 1));
  }
}

class RibbonLayout final : public LayoutRules {
 public:
  std::string_view name() const noexcept override { return "ribbon"; }

  std::uint32_t default_block_bytes(std::uint32_t /*hashes*/) const noexcept override { return kRibbonBlockBytes; }

  bool allows_block_bytes(std::uint32_t block_bytes, std::uint32_t /*hashes*/) const noexcept override {
    return block_bytes == kRibbonBlockBytes;
  }

  std::string block_bytes_rule(std::uint32_t /*hashes*/) const override { return std::to_string(kRibbonBlockBytes); }

  std::uint32_t most_hashes() const noexcept override { return 1; }

  LayoutParts parts(const FilterShape& shape) const noexcept override {
    return {shape.block_count, "blocks", kRibbonBlockBytes};
  }

  std::uint32_t values_per_entry(std::uint32_t /*hashes*/) const noexcept override { return 1; }

  bool value_is_hash() const noexcept override { return true; }

  void values_of(const FilterShape& shape, std::string_view key, std::uint64_t* values) const noexcept override {
    values[0] = hash_of_address(shape, key);
  }

  ByteRange bytes_of(const FilterShape& shape, std::uint64_t value) const noexcept override {
    const std::uint64_t begin = block_number(shape, value) * kRibbonBlockBytes;
    return {begin, begin + kRibbonBlockBytes};
  }

  bool needs_whole_blocks() const noexcept override { return true; }

  void set_bits(const FilterShape& shape, BodyPart part, std::span<const std::uint64_t> values) const override {
    if (values.empty()) return;
    thread_local RibbonSolver solver;
    const std::uint64_t number = block_number(shape, values.front());
    // Each word of each block gets a different random number.
    const std::uint64_t salt = shape.seed * kProbeMultiplier + number * (kRibbonWords + 1);
    solver.solve(values, salt, part.data + (number * kRibbonBlockBytes - part.begin));
  }

  std::uint64_t most_bits_of_entry(const FilterShape& shape) const noexcept override {
    return 8 * std::uint64_t{shape.block_bytes};
  }

  bool has_bits(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    const std::byte* const block = body + block_number(shape, values[0]) * kRibbonBlockBytes;
    prefetch_row(block, values[0]);
    return ribbon_may_contain(block, values[0]);
  }

  bool has_bits_of(const FilterShape& shape, ConstBodyPart part, std::uint64_t value) const noexcept override {
    return ribbon_may_contain(part.data + (block_number(shape, value) * kRibbonBlockBytes - part.begin), value);
  }

  void prefetch(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    prefetch_row(body + block_number(shape, values[0]) * kRibbonBlockBytes, values[0]);
  }

  double false_positive_rate(const FilterShape& shape, double entries) const noexcept override {
    return ribbon_fpr(entries, shape.block_count);
  }

  double entries_of_fill(const FilterShape& /*shape*/, double /*fill*/) const noexcept override {
    return std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace

const LayoutRules& ribbon_layout() noexcept {
  static constexpr RibbonLayout kRules;
  return kRules;
}

}  // namespace bloomgate
