#include "filter/layout/counting_layout.hpp"

#include <algorithm>

#include "filter/layout/blocked_layout.hpp"
#include "filter/layout/counters.hpp"
#include "filter/layout/layout_rules.hpp"

namespace bloomgate {
namespace {

static_assert(bits_of_place(Layout::counting) == kCounterBits);

std::uint64_t bytes_of_block(const FilterShape& shape) noexcept {
  return std::uint64_t{shape.block_bytes} * kCounterBits;
}

std::uint64_t offset_of_counters(const FilterShape& shape, KeyHash hash) noexcept {
  return multiply_high(hash, shape.block_count) * bytes_of_block(shape);
}

BlockProbes probes_of(const FilterShape& shape, KeyHash hash) noexcept {
  return BlockProbes(hash, shape.block_bytes * 8);
}

bool counters_are_used(const FilterShape& shape, const std::byte* block, KeyHash hash) noexcept {
  BlockProbes probes = probes_of(shape, hash);
  for (std::uint32_t i = 0; i < shape.hashes; ++i) {
    if (counter_at(block, probes.next()) == 0) return false;
  }
  return true;
}

class CountingLayout final : public LayoutRules {
 public:
  std::string_view name() const noexcept override { return "counting"; }
  bool block_bytes_can_be_chosen() const noexcept override { return true; }

  std::uint32_t default_block_bytes(std::uint32_t hashes) const noexcept override {
    return page_layout().default_block_bytes(hashes);
  }

  bool allows_block_bytes(std::uint32_t block_bytes, std::uint32_t hashes) const noexcept override {
    return page_layout().allows_block_bytes(block_bytes, hashes);
  }

  std::string block_bytes_rule(std::uint32_t hashes) const override { return page_layout().block_bytes_rule(hashes); }

  LayoutParts parts(const FilterShape& shape) const noexcept override {
    return {shape.block_count, "blocks", bytes_of_block(shape)};
  }

  std::uint32_t values_per_entry(std::uint32_t /*hashes*/) const noexcept override { return 1; }
  bool value_is_hash() const noexcept override { return true; }

  void values_of(const FilterShape& shape, std::string_view key, std::uint64_t* values) const noexcept override {
    values[0] = hash_of_address(shape, key);
  }

  ByteRange bytes_of(const FilterShape& shape, std::uint64_t value) const noexcept override {
    const std::uint64_t begin = offset_of_counters(shape, value);
    return {begin, begin + bytes_of_block(shape)};
  }

  std::uint64_t make_block(const FilterShape& shape, BodyPart part, std::span<std::uint64_t> values) const override {
    std::ranges::sort(values);
    values = values.first(static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin()));
    set_bits(shape, part, values);
    return values.size();
  }

  bool has_counters() const noexcept override { return true; }
  std::string_view why_not_asked() const noexcept override { return "is kept to add and remove entries"; }

  // Changes would make the filter differ from a store.
  std::string_view why_no_store() const noexcept override {
    return " goes without stores: what has a store is changed by 'bloomgate update-store', exactly";
  }

  // After a change, the set of false positives is another one.
  std::string_view why_no_strangers() const noexcept override { return "since the entries of such a filter change"; }

  BodyCounts count(std::span<const std::byte> body) const noexcept override { return count_counters(body); }

  void set_bits(const FilterShape& shape, BodyPart part,
                std::span<const std::uint64_t> values) const noexcept override {
    for (const KeyHash hash : values) count_entry(shape, part, hash);
  }

  bool has_bits(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    return counters_are_used(shape, body + offset_of_counters(shape, values[0]), values[0]);
  }

  bool has_bits_of(const FilterShape& shape, ConstBodyPart part, std::uint64_t value) const noexcept override {
    return counters_are_used(shape, part.data + (offset_of_counters(shape, value) - part.begin), value);
  }

  void prefetch(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    const std::byte* const block = body + offset_of_counters(shape, values[0]);
    BlockProbes probes = probes_of(shape, values[0]);
    for (std::uint32_t i = 0; i < shape.hashes; ++i) {
      prefetch_bit(block, std::uint64_t{kCounterBits} * probes.next());
    }
  }

  double false_positive_rate(const FilterShape& shape, double entries) const noexcept override {
    return page_layout().false_positive_rate(shape, entries);
  }

  double entries_of_fill(const FilterShape& shape, double fill) const noexcept override {
    return page_layout().entries_of_fill(shape, fill);
  }
};

}  // namespace

void count_entry(const FilterShape& shape, BodyPart part, KeyHash hash) noexcept {
  std::byte* const block = part.data + (offset_of_counters(shape, hash) - part.begin);
  BlockProbes probes = probes_of(shape, hash);
  for (std::uint32_t i = 0; i < shape.hashes; ++i) raise_counter(block, probes.next());
}

bool discount_entry(const FilterShape& shape, BodyPart part, KeyHash hash) noexcept {
  std::byte* const block = part.data + (offset_of_counters(shape, hash) - part.begin);
  BlockProbes probes = probes_of(shape, hash);
  for (std::uint32_t done = 0; done < shape.hashes; ++done) {
    if (lower_counter(block, probes.next())) continue;
    // A counter that was lowered is below 15, so raising it again does not saturate it.
    BlockProbes again = probes_of(shape, hash);
    for (std::uint32_t i = 0; i < done; ++i) raise_counter(block, again.next());
    return false;
  }
  return true;
}

FilterShape exported_shape(FilterShape shape) noexcept {
  shape.layout = Layout::page;
  return shape;
}

const LayoutRules& counting_layout() noexcept {
  static constexpr CountingLayout kRules;
  return kRules;
}

}  // namespace bloomgate
