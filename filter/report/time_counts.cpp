#include "filter/report/time_counts.hpp"

#include <algorithm>
#include <cmath>

namespace bloomgate {

std::size_t TimeCounts::bucket_of(double seconds) noexcept {
  if (seconds <= kShortest) return 0;
  const double bucket = std::ceil(std::log2(seconds / kShortest) * static_cast<double>(kPerDoubling) - 1e-9);
  return static_cast<std::size_t>(std::clamp(bucket, 0.0, static_cast<double>(30 * kPerDoubling)));
}

void TimeCounts::add(double seconds) noexcept {
  ++buckets_[bucket_of(seconds)];
  for (std::size_t mark = 0; mark < kMarks.size() && seconds > kMarks[mark]; ++mark) ++longer_[mark];
  ++count_;
  sum_ += seconds;
  longest_ = std::max(longest_, seconds);
}

double TimeCounts::quantile_seconds(double share) const noexcept {
  const double wanted = share * static_cast<double>(count_);
  std::uint64_t so_far = 0;
  for (std::size_t bucket = 0; bucket + 1 < buckets_.size(); ++bucket) {
    so_far += buckets_[bucket];
    if (static_cast<double>(so_far) < wanted) continue;
    const double end = kShortest * std::exp2(static_cast<double>(bucket) / static_cast<double>(kPerDoubling));
    return std::min(end, longest_);
  }
  return longest_;
}

}  // namespace bloomgate
