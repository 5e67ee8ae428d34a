// How long something took, over many times, in memory of fixed size. A value; for one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bloomgate {

class TimeCounts {
 public:
  // Neither negative nor infinite.
  void add(double seconds) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  double sum_seconds() const noexcept { return sum_; }
  double mean_seconds() const noexcept { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  double longest_seconds() const noexcept { return longest_; }

  // That share of the times is no longer: too high by 19 % at most, and never above the longest. 0 if there is none.
  double quantile_seconds(double share) const noexcept;

  // How many took longer than each of these: exact.
  static constexpr std::array<double, 4> kMarks = {0.001, 0.01, 0.1, 1};
  const std::array<std::uint64_t, kMarks.size()>& longer() const noexcept { return longer_; }

 private:
  static constexpr std::size_t kPerDoubling = 4;
  static constexpr double kShortest = 1e-6;
  // The bucket b holds times up to kShortest * 2^(b / kPerDoubling). The last one, of 18 minutes, all that are longer.
  std::array<std::uint64_t, 30 * kPerDoubling + 1> buckets_ = {};
  std::array<std::uint64_t, kMarks.size()> longer_ = {};
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double longest_ = 0;

  static std::size_t bucket_of(double seconds) noexcept;
};

}  // namespace bloomgate
