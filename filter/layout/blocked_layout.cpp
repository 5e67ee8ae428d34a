#include "filter/layout/blocked_layout.hpp"

#include <cmath>

#include "filter/base/processor.hpp"
#include "filter/layout/bits.hpp"
#include "filter/layout/layout_rules.hpp"
#include "filter/layout/sizing.hpp"

namespace bloomgate {
namespace {

using SetBits = void (*)(const FilterShape&, BodyPart, std::span<const std::uint64_t>) noexcept;

// Sets the bits of all the hashes. If the number of probes and the size of a block are constants, the loop unrolls and
// its shifts are fixed; 0 stands for any.
template <std::uint32_t kHashes, std::uint32_t kBlockBytes>
[[gnu::always_inline]] inline void set_all_bits(const FilterShape& shape, BodyPart part,
                                                std::span<const std::uint64_t> run) noexcept {
  const std::uint32_t hashes = kHashes == 0 ? shape.hashes : kHashes;
  const std::uint32_t block_bytes = kBlockBytes == 0 ? shape.block_bytes : kBlockBytes;
  const std::uint64_t block_count = shape.block_count;
  for (const KeyHash hash : run) {
    std::byte* const block = part.data + (multiply_high(hash, block_count) * block_bytes - part.begin);
    BlockProbes probes(hash, block_bytes * 8);
#pragma GCC unroll 16
    for (std::uint32_t i = 0; i < hashes; ++i) set_bit_of_words(block, probes.next());
  }
}

template <std::uint32_t kHashes, std::uint32_t kBlockBytes>
void set_bits_of(const FilterShape& shape, BodyPart part, std::span<const std::uint64_t> run) noexcept {
  set_all_bits<kHashes, kBlockBytes>(shape, part, run);
}

#ifdef __x86_64__
// The same for processors with BMI2, on which a shift by a register takes one step and not three.
template <std::uint32_t kHashes, std::uint32_t kBlockBytes>
[[gnu::target("bmi2")]] void set_bits_with_bmi2(const FilterShape& shape, BodyPart part,
                                                std::span<const std::uint64_t> run) noexcept {
  set_all_bits<kHashes, kBlockBytes>(shape, part, run);
}
#endif

template <std::uint32_t kHashes, std::uint32_t kBlockBytes>
SetBits fastest_set_bits() noexcept {
#ifdef __x86_64__
  if (processor().bmi2) return set_bits_with_bmi2<kHashes, kBlockBytes>;
#endif
  return set_bits_of<kHashes, kBlockBytes>;
}

template <std::uint32_t kBlockBytes>
SetBits set_bits_for(std::uint32_t hashes) noexcept {
  switch (hashes) {
    case 4:
      return fastest_set_bits<4, kBlockBytes>();
    case 5:
      return fastest_set_bits<5, kBlockBytes>();
    case 6:
      return fastest_set_bits<6, kBlockBytes>();
    case 7:
      return fastest_set_bits<7, kBlockBytes>();
    case 8:
      return fastest_set_bits<8, kBlockBytes>();
    case 11:
      return fastest_set_bits<11, kBlockBytes>();
    default:
      return fastest_set_bits<0, kBlockBytes>();
  }
}

SetBits set_bits_for(const FilterShape& shape) noexcept {
  switch (shape.block_bytes) {
    case 4096:
      return set_bits_for<4096>(shape.hashes);
    case 64:
      return set_bits_for<64>(shape.hashes);
    default:
      return fastest_set_bits<0, 0>();
  }
}

std::uint64_t offset_of_block(const FilterShape& shape, KeyHash hash) noexcept {
  return multiply_high(hash, shape.block_count) * shape.block_bytes;
}

bool block_has_bits(const FilterShape& shape, const std::byte* block, KeyHash hash) noexcept {
  BlockProbes probes(hash, shape.block_bytes * 8);
  for (std::uint32_t i = 0; i < shape.hashes; ++i) {
    if (!has_bit(block, probes.next())) return false;
  }
  return true;
}

}  // namespace

std::uint32_t BlockedLayout::default_block_bytes(std::uint32_t /*hashes*/) const noexcept {
  return smallest_;
}

bool BlockedLayout::allows_block_bytes(std::uint32_t block_bytes, std::uint32_t /*hashes*/) const noexcept {
  return std::has_single_bit(block_bytes) && block_bytes >= smallest_ && block_bytes <= largest_;
}

std::string BlockedLayout::block_bytes_rule(std::uint32_t /*hashes*/) const {
  return "a power of two from " + std::to_string(smallest_) + " to " + std::to_string(largest_);
}

LayoutParts BlockedLayout::parts(const FilterShape& shape) const noexcept {
  return {shape.block_count, "blocks", shape.block_bytes};
}

std::uint32_t BlockedLayout::values_per_entry(std::uint32_t /*hashes*/) const noexcept {
  return 1;
}

void BlockedLayout::values_of(const FilterShape& shape, std::string_view key, std::uint64_t* values) const noexcept {
  values[0] = hash_of_address(shape, key);
}

ByteRange BlockedLayout::bytes_of(const FilterShape& shape, std::uint64_t value) const noexcept {
  const std::uint64_t begin = offset_of_block(shape, value);
  return {begin, begin + shape.block_bytes};
}

void BlockedLayout::set_bits(const FilterShape& shape, BodyPart part,
                             std::span<const std::uint64_t> values) const noexcept {
  set_bits_for(shape)(shape, part, values);
}

bool BlockedLayout::has_bits(const FilterShape& shape, const std::byte* body,
                             const std::uint64_t* values) const noexcept {
  return block_has_bits(shape, body + offset_of_block(shape, values[0]), values[0]);
}

bool BlockedLayout::has_bits_of(const FilterShape& shape, ConstBodyPart part, std::uint64_t value) const noexcept {
  return block_has_bits(shape, part.data + (offset_of_block(shape, value) - part.begin), value);
}

void BlockedLayout::prefetch(const FilterShape& shape, const std::byte* body,
                             const std::uint64_t* values) const noexcept {
  const std::byte* const block = body + offset_of_block(shape, values[0]);
  if (shape.block_bytes <= kCacheLineBytes) return prefetch_bit(block, 0);
  BlockProbes probes(values[0], shape.block_bytes * 8);
  for (std::uint32_t i = 0; i < shape.hashes; ++i) prefetch_bit(block, probes.next());
}

double BlockedLayout::false_positive_rate(const FilterShape& shape, double entries) const noexcept {
  return blocked_fpr(entries, shape.block_count, shape.block_bytes, shape.hashes);
}

double BlockedLayout::entries_of_fill(const FilterShape& shape, double fill) const noexcept {
  const double bits = 8.0 * shape.block_bytes;
  // With a Poisson load of mean L, the expected share of zeros is exp(-L (1 - miss)): the mean of miss^j, miss being
  // the probability that one entry leaves a given bit of its block at 0.
  const double load = -std::log1p(-fill) / -std::expm1(shape.hashes * std::log1p(-1 / bits));
  return load * static_cast<double>(shape.block_count);
}

// A look-up touches one page of memory (one entry of the TLB, at worst one read from the disk), and with thousands of
// entries in each block the false-positive rate is that of a classic filter.
const LayoutRules& page_layout() noexcept {
  static constexpr BlockedLayout kRules("page", 4096, std::uint32_t{1} << 20);
  return kRules;
}

// A look-up touches one cache line (or a few neighbours). The price is a tenth more false positives at 8 bits per entry
// and twice as many at 16, since the entries fall unevenly on blocks this small.
const LayoutRules& line_layout() noexcept {
  static constexpr BlockedLayout kRules("line", 64, 512);
  return kRules;
}

}  // namespace bloomgate
