// What the layouts page and line share: the bit array is cut into blocks, and the hash picks one block and then k bits
// inside it. So a look-up touches one page of memory, or one cache line. The two differ in the size of a block.
//
// The inner loop of both programs is in this header. Pure; safe from any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "filter/layout/bits.hpp"
#include "filter/layout/layout_rules.hpp"

namespace bloomgate {

// The probes of a hash inside its block. The hash's high bits have chosen the block. Each multiplication spreads the
// low bits, in which the entries of one block differ, into the top bits, which are the next probe. Double hashing would
// be one addition cheaper, but its probes are too alike in a block this small: 27 % more false positives at 20 bits per
// entry in a page, six times as many in a cache line.
class BlockProbes {
 public:
  // `block_bits` must be a power of two, at least 2.
  constexpr BlockProbes(KeyHash hash, std::uint32_t block_bits) noexcept
      : state_(hash), shift_(64 - std::countr_zero(block_bits)) {}

  // The next bit to set or test, in [0, block_bits).
  constexpr std::uint32_t next() noexcept {
    state_ *= kProbeMultiplier;
    return static_cast<std::uint32_t>(state_ >> shift_);
  }

 private:
  std::uint64_t state_;
  int shift_;
};

class BlockedLayout final : public LayoutRules {
 public:
  // Sizes of a block: powers of two from `smallest`, the default, to `largest`, of at least 8 and at most 2^20 bytes.
  constexpr BlockedLayout(std::string_view name, std::uint32_t smallest, std::uint32_t largest) noexcept
      : name_(name), smallest_(smallest), largest_(largest) {}

  std::string_view name() const noexcept override { return name_; }
  bool block_bytes_can_be_chosen() const noexcept override { return true; }
  std::uint32_t default_block_bytes(std::uint32_t hashes) const noexcept override;
  bool allows_block_bytes(std::uint32_t block_bytes, std::uint32_t hashes) const noexcept override;
  std::string block_bytes_rule(std::uint32_t hashes) const override;
  LayoutParts parts(const FilterShape& shape) const noexcept override;
  std::uint32_t values_per_entry(std::uint32_t hashes) const noexcept override;
  bool value_is_hash() const noexcept override { return true; }
  void values_of(const FilterShape& shape, std::string_view key, std::uint64_t* values) const noexcept override;
  ByteRange bytes_of(const FilterShape& shape, std::uint64_t value) const noexcept override;
  void set_bits(const FilterShape& shape, BodyPart part, std::span<const std::uint64_t> values) const noexcept override;
  bool has_bits(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override;
  bool has_bits_of(const FilterShape& shape, ConstBodyPart part, std::uint64_t value) const noexcept override;
  void prefetch(const FilterShape& shape, const std::byte* body, const std::uint64_t* values) const noexcept override;
  double false_positive_rate(const FilterShape& shape, double entries) const noexcept override;
  double entries_of_fill(const FilterShape& shape, double fill) const noexcept override;

 private:
  std::string_view name_;
  std::uint32_t smallest_;
  std::uint32_t largest_;
};

}  // namespace bloomgate
