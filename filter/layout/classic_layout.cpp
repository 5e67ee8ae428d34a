// The layout classic: Bloom's own. The k bits of an entry are anywhere in the array, which is a whole number of 64-bit
// words. It has the lowest false-positive rate for its size, at k cache misses for a listed entry.
#include <cmath>

#include "filter/layout/bits.hpp"
#include "filter/layout/double_hashing.hpp"
#include "filter/layout/layout_rules.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
namespace {

std::uint64_t bits_of(const FilterShape& shape) noexcept {
  return shape.block_count * kWordBytes * 8;
}

class ClassicLayout final : public LayoutRules {
 public:
  std::string_view name() const noexcept override { return "classic"; }

  std::uint32_t default_block_bytes(std::uint32_t /*hashes*/) const noexcept override { return kWordBytes; }

  bool allows_block_bytes(std::uint32_t block_bytes, std::uint32_t /*hashes*/) const noexcept override {
    return block_bytes == kWordBytes;
  }

  std::string block_bytes_rule(std::uint32_t /*hashes*/) const override { return std::to_string(kWordBytes); }

  LayoutParts parts(const FilterShape& shape) const noexcept override {
    return {1, "array", shape.block_count * kWordBytes};
  }

  std::uint32_t values_per_entry(std::uint32_t hashes) const noexcept override { return hashes; }

  void values_of(const FilterShape& shape, std::string_view key, std::uint64_t* values) const noexcept override {
    DoubleHashing probes(hash_pair(key, shape.seed, shape.hash_family));
    for (std::uint32_t i = 0; i < shape.hashes; ++i) values[i] = probes.next();
  }

  ByteRange bytes_of(const FilterShape& shape, std::uint64_t value) const noexcept override {
    const std::uint64_t byte = multiply_high(value, bits_of(shape)) / 8;
    return {byte, byte + 1};
  }

  void set_bits(const FilterShape& shape, BodyPart part,
                std::span<const std::uint64_t> values) const noexcept override {
    const std::uint64_t bits = bits_of(shape);
    for (const std::uint64_t value : values) set_bit(part.data, multiply_high(value, bits) - part.begin * 8);
  }

  bool has_bits(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    const std::uint64_t bits = bits_of(shape);
    for (std::uint32_t i = 0; i < shape.hashes; ++i) {
      if (!has_bit(body, multiply_high(values[i], bits))) return false;
    }
    return true;
  }

  bool has_bits_of(const FilterShape& shape, ConstBodyPart part, std::uint64_t value) const noexcept override {
    return has_bit(part.data, multiply_high(value, bits_of(shape)) - part.begin * 8);
  }

  void prefetch(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    const std::uint64_t bits = bits_of(shape);
    for (std::uint32_t i = 0; i < shape.hashes; ++i) prefetch_bit(body, multiply_high(values[i], bits));
  }

  double false_positive_rate(const FilterShape& shape, double entries) const noexcept override {
    return classic_fpr(entries, static_cast<double>(bits_of(shape)), shape.hashes);
  }

  double entries_of_fill(const FilterShape& shape, double fill) const noexcept override {
    return std::log1p(-fill) / (shape.hashes * std::log1p(-1 / static_cast<double>(bits_of(shape))));
  }
};

}  // namespace

const LayoutRules& classic_layout() noexcept {
  static constexpr ClassicLayout kRules;
  return kRules;
}

}  // namespace bloomgate
