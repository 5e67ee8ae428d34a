// The layout partitioned: the array is k equal slices, each a whole number of 64-bit words, and an entry has one bit in
// each (Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom filters", 2007, section 3). Two probes of an entry never
// hit the same bit; at useful sizes the rate is that of a classic filter.
#include <bit>
#include <cmath>

#include "filter/layout/bits.hpp"
#include "filter/layout/double_hashing.hpp"
#include "filter/layout/layout_rules.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
namespace {

// A block is one word of each slice.
std::uint64_t slice_bits(const FilterShape& shape) noexcept {
  return shape.block_count * kWordBytes * 8;
}

// A value for the builder has the number of the slice in its high bits; the low bits that this displaces are not used.
constexpr std::uint64_t kDisplaced = kMaxHashes - 1;

unsigned slice_number_bits(std::uint32_t hashes) noexcept {
  return static_cast<unsigned>(std::bit_width(hashes - 1));
}

// The bit of the array that a value stands for.
class Places {
 public:
  explicit Places(const FilterShape& shape) noexcept
      : bits_(slice_bits(shape)), number_bits_(slice_number_bits(shape.hashes)) {}

  std::uint64_t of(std::uint64_t value) const noexcept {
    const std::uint64_t slice = number_bits_ == 0 ? 0 : value >> (64 - number_bits_);
    return slice * bits_ + multiply_high((value << number_bits_) & ~kDisplaced, bits_);
  }

 private:
  std::uint64_t bits_;
  unsigned number_bits_;
};

class PartitionedLayout final : public LayoutRules {
 public:
  std::string_view name() const noexcept override { return "partitioned"; }

  std::uint32_t default_block_bytes(std::uint32_t hashes) const noexcept override { return kWordBytes * hashes; }

  bool allows_block_bytes(std::uint32_t block_bytes, std::uint32_t hashes) const noexcept override {
    return block_bytes == kWordBytes * hashes;
  }

  std::string block_bytes_rule(std::uint32_t hashes) const override { return std::to_string(kWordBytes * hashes); }

  LayoutParts parts(const FilterShape& shape) const noexcept override {
    return {shape.hashes, "slices", shape.block_count * kWordBytes};
  }

  std::uint32_t values_per_entry(std::uint32_t hashes) const noexcept override { return hashes; }

  void values_of(const FilterShape& shape, std::string_view key, std::uint64_t* values) const noexcept override {
    const unsigned number_bits = slice_number_bits(shape.hashes);
    DoubleHashing probes(hash_pair(key, shape.seed, shape.hash_family));
    for (std::uint64_t slice = 0; slice < shape.hashes; ++slice) {
      const std::uint64_t probe = probes.next();
      values[slice] = number_bits == 0 ? probe : (slice << (64 - number_bits)) | (probe >> number_bits);
    }
  }

  ByteRange bytes_of(const FilterShape& shape, std::uint64_t value) const noexcept override {
    const std::uint64_t byte = Places(shape).of(value) / 8;
    return {byte, byte + 1};
  }

  void set_bits(const FilterShape& shape, BodyPart part,
                std::span<const std::uint64_t> values) const noexcept override {
    const Places places(shape);
    for (const std::uint64_t value : values) set_bit(part.data, places.of(value) - part.begin * 8);
  }

  bool has_bits(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    const Places places(shape);
    for (std::uint32_t i = 0; i < shape.hashes; ++i) {
      if (!has_bit(body, places.of(values[i]))) return false;
    }
    return true;
  }

  bool has_bits_of(const FilterShape& shape, ConstBodyPart part, std::uint64_t value) const noexcept override {
    return has_bit(part.data, Places(shape).of(value) - part.begin * 8);
  }

  void prefetch(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override {
    const Places places(shape);
    for (std::uint32_t i = 0; i < shape.hashes; ++i) prefetch_bit(body, places.of(values[i]));
  }

  double false_positive_rate(const FilterShape& shape, double entries) const noexcept override {
    return partitioned_fpr(entries, static_cast<double>(slice_bits(shape)) * shape.hashes, shape.hashes);
  }

  double entries_of_fill(const FilterShape& shape, double fill) const noexcept override {
    return std::log1p(-fill) / std::log1p(-1 / static_cast<double>(slice_bits(shape)));
  }
};

}  // namespace

const LayoutRules& partitioned_layout() noexcept {
  static constexpr PartitionedLayout kRules;
  return kRules;
}

}  // namespace bloomgate
