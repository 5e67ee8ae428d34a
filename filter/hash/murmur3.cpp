#include "filter/hash/murmur3.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "filter/base/little_endian.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kLaneBytes = 8;
constexpr std::uint64_t kFirstMultiplier = 0x87c37b91114253d5;
constexpr std::uint64_t kSecondMultiplier = 0x4cf5ad432745937f;

constexpr std::uint64_t stir_first(std::uint64_t lane) noexcept {
  return std::rotl(lane * kFirstMultiplier, 31) * kSecondMultiplier;
}

constexpr std::uint64_t stir_second(std::uint64_t lane) noexcept {
  return std::rotl(lane * kSecondMultiplier, 33) * kFirstMultiplier;
}

// Lets every bit of the state affect every other bit.
constexpr std::uint64_t finish(std::uint64_t state) noexcept {
  state = (state ^ (state >> 33)) * 0xff51afd7ed558ccd;
  state = (state ^ (state >> 33)) * 0xc4ceb9fe1a85ec53;
  return state ^ (state >> 33);
}

}  // namespace

HashPair murmur3_128(std::string_view key, std::uint64_t seed) noexcept {
  std::uint64_t first = seed;
  std::uint64_t second = seed;
  std::span<const std::byte> rest = std::as_bytes(std::span(key));
  for (; rest.size() >= 2 * kLaneBytes; rest = rest.subspan(2 * kLaneBytes)) {
    first ^= stir_first(load_little_endian<std::uint64_t>(rest.data()));
    first = (std::rotl(first, 27) + second) * 5 + 0x52dce729;
    second ^= stir_second(load_little_endian<std::uint64_t>(rest.data() + kLaneBytes));
    second = (std::rotl(second, 31) + first) * 5 + 0x38495ab5;
  }
  // A lane of zeros mixes to zero, so the tail can be padded with zeros.
  std::byte tail[2 * kLaneBytes] = {};
  if (!rest.empty()) std::memcpy(tail, rest.data(), rest.size());
  second ^= stir_second(load_little_endian<std::uint64_t>(tail + kLaneBytes));
  first ^= stir_first(load_little_endian<std::uint64_t>(tail));

  first ^= key.size();
  second ^= key.size();
  first += second;
  second += first;
  first = finish(first);
  second = finish(second);
  first += second;
  second += first;
  return {first, second};
}

}  // namespace bloomgate
