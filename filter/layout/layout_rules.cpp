#include "filter/layout/layout_rules.hpp"

#include <bit>

#include "filter/base/little_endian.hpp"
#include "filter/base/processor.hpp"

namespace bloomgate {
namespace {

// `bytes` must be whole words.
[[gnu::always_inline]] inline std::uint64_t count_ones_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t ones = 0;
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
    ones += static_cast<unsigned>(std::popcount(load_little_endian<std::uint64_t>(bytes.data())));
  }
  return ones;
}

#ifdef __x86_64__
// The same for processors with an instruction for that.
[[gnu::target("popcnt")]] std::uint64_t count_ones_with_popcnt(std::span<const std::byte> bytes) noexcept {
  return count_ones_of(bytes);
}
#endif

}  // namespace

std::uint64_t LayoutRules::make_block(const FilterShape& shape, BodyPart part, std::span<std::uint64_t> values) const {
  set_bits(shape, part, values);
  return 0;
}

std::string_view LayoutRules::why_no_store() const noexcept {
  return value_is_hash() ? "" : " has no hash of 64 bits that a store could keep";
}

BodyCounts LayoutRules::count(std::span<const std::byte> body) const noexcept {
#ifdef __x86_64__
  if (processor().popcnt) return {.ones = count_ones_with_popcnt(body)};
#endif
  return {.ones = count_ones_of(body)};
}

}  // namespace bloomgate
