#include "milter/brake/distinct_count.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bloomgate {
namespace {

constexpr unsigned kMostInRegister = 15;

// The constant for that number of registers (Flajolet et al., figure 3).
constexpr double bias_of(double registers) noexcept {
  return 0.7213 / (1 + 1.079 / registers);
}

}  // namespace

void DistinctCount::add(std::uint64_t hash) noexcept {
  const std::uint64_t number = (hash >> 32) * kRegisters >> 32;
  // The low bits did not take part in the choice of the register.
  const auto zeros = static_cast<unsigned>(std::countr_zero(static_cast<std::uint32_t>(hash)));
  const unsigned rank = std::min(zeros + 1, kMostInRegister);
  const unsigned shift = number % 2 == 0 ? 0 : 4;
  std::uint8_t& pair = pairs_[number / 2];
  const unsigned old = unsigned{pair} >> shift & kMostInRegister;
  if (rank > old) pair = static_cast<std::uint8_t>((pair & ~(kMostInRegister << shift)) | rank << shift);
}

void DistinctCount::merge(const DistinctCount& other) noexcept {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const unsigned mine = pairs_[i], its = other.pairs_[i];
    pairs_[i] = static_cast<std::uint8_t>(std::max(mine & 0x0F, its & 0x0F) | std::max(mine & 0xF0, its & 0xF0));
  }
}

double DistinctCount::estimate() const noexcept {
  double sum = 0;  // of 2^-register
  unsigned empty = 0;
  for (const std::uint8_t pair : pairs_) {
    for (const unsigned rank : {pair & kMostInRegister, unsigned{pair} >> 4}) {
      sum += 1.0 / static_cast<double>(1U << rank);
      if (rank == 0) ++empty;
    }
  }
  constexpr double kCount = kRegisters;
  const double estimate = bias_of(kCount) * kCount * kCount / sum;
  if (empty == 0 || estimate > 2.5 * kCount) return estimate;
  return kCount * std::log(kCount / empty);
}

}  // namespace bloomgate
