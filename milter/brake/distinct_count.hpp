// Estimates how many different values were added, in 24 bytes: a HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007)
// of 48 registers with four bits each. For few values it uses a linear count of the empty registers (Whang,
// Vander-Zanden, Taylor 1990). The standard error is 15 %, and about 12 % below 30 values; it counts up to 10^6. A
// plain value of bytes, which may be stored; for one thread. Adding a value takes a few ns, an estimate about 50 ns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bloomgate {

class DistinctCount {
 public:
  // `hash` is a hash of the value, well distributed in all of its bits.
  void add(std::uint64_t hash) noexcept;

  // The result is the same as if all values added to `other` had been added here.
  void merge(const DistinctCount& other) noexcept;

  // 0 exactly if no value was added.
  double estimate() const noexcept;

  friend bool operator==(const DistinctCount&, const DistinctCount&) = default;

 private:
  static constexpr std::size_t kRegisters = 48;

  std::array<std::uint8_t, kRegisters / 2> pairs_ = {};  // two registers a byte, the first in the low bits
};

}  // namespace bloomgate
