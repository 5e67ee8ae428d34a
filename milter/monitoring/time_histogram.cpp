#include "milter/monitoring/time_histogram.hpp"

#include <algorithm>

namespace bloomgate {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kLongestSeconds = 1e6;  // eleven days: what is longer is a fault of a clock

}  // namespace

void TimeHistogram::note(double seconds) noexcept {
  const double time = seconds > 0 ? std::min(seconds, kLongestSeconds) : 0;
  const auto bound = std::ranges::lower_bound(bounds_, time);
  counts_[static_cast<std::size_t>(bound - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_nanoseconds_.fetch_add(static_cast<std::uint64_t>(time * kNanosecondsPerSecond), std::memory_order_relaxed);
}

TimeHistogram::Reading TimeHistogram::read() const {
  Reading reading;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    count += counts_[i].load(std::memory_order_relaxed);
    reading.cumulative.push_back(count);
  }
  reading.sum_seconds = static_cast<double>(sum_nanoseconds_.load(std::memory_order_relaxed)) / kNanosecondsPerSecond;
  return reading;
}

}  // namespace bloomgate
