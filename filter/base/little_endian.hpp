// Integers in the byte order of the file format, on any machine. Compiles to a plain load or store on
// little-endian ones.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace bloomgate {

template <std::unsigned_integral Integer>
constexpr Integer swap_unless_little_endian(Integer value) noexcept {
  if constexpr (std::endian::native == std::endian::little || sizeof(Integer) == 1) {
    return value;
  } else {
    Integer swapped = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      swapped = static_cast<Integer>((swapped << 8) | ((value >> (8 * i)) & 0xff));
    }
    return swapped;
  }
}

// `to` must have room for sizeof(Integer) bytes; no alignment is needed.
template <std::unsigned_integral Integer>
void store_little_endian(std::byte* to, Integer value) noexcept {
  const Integer stored = swap_unless_little_endian(value);
  std::memcpy(to, &stored, sizeof stored);
}

// `from` must have sizeof(Integer) bytes; no alignment is needed.
template <std::unsigned_integral Integer>
Integer load_little_endian(const std::byte* from) noexcept {
  Integer stored;
  std::memcpy(&stored, from, sizeof stored);
  return swap_unless_little_endian(stored);
}

}  // namespace bloomgate
