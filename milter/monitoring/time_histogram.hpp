// How long something took, counted in classes that a Prometheus histogram has: each observation falls into the first
// class whose bound it does not exceed, or into the last one, which has none. Safe from any thread and without locks,
// unlike prometheus::Histogram, which takes a mutex for each observation: here every session would queue for it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomgate {

class TimeHistogram {
 public:
  static constexpr std::size_t kMostBounds = 20;

  // In seconds, ascending; kMostBounds at most. They must outlive the object.
  explicit TimeHistogram(std::span<const double> bounds) noexcept : bounds_(bounds) {}

  // A time below 0, or one that is no number, counts as 0. Cost: a few nanoseconds.
  void note(double seconds) noexcept;

  struct Reading {
    std::vector<std::uint64_t> cumulative = {};  // for each bound, then for no bound: how many took that long or less
    double sum_seconds = 0;
  };
  // The count is that of the last class, so the classes never contradict it. Throws std::bad_alloc.
  Reading read() const;

  std::span<const double> bounds() const noexcept { return bounds_; }

 private:
  const std::span<const double> bounds_;
  std::array<std::atomic<std::uint64_t>, kMostBounds + 1> counts_ = {};
  std::atomic<std::uint64_t> sum_nanoseconds_{0};
};

}  // namespace bloomgate
