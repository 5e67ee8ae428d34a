// Counts the messages since the last one that came with authentication results from a trusted source. If authentication
// is asked for and no results come, nothing is delivered, and the operator should know why. Safe from any thread, and
// without locks.
#pragma once

#include <atomic>

namespace bloomgate {

class ResultsWatch {
 public:
  static constexpr unsigned kMissedUntilWarning = 1000;

  // A message was decided. True if that changes missing().
  bool note(bool had_trusted_results) noexcept {
    if (had_trusted_results) return missed_.exchange(0, std::memory_order_relaxed) >= kMissedUntilWarning;
    // The count stays there from then on, since it must not wrap.
    if (missing()) return false;
    return missed_.fetch_add(1, std::memory_order_relaxed) + 1 == kMissedUntilWarning;
  }

  // Other results may be wanted from now on.
  void begin_again() noexcept { missed_.store(0, std::memory_order_relaxed); }

  // Whether none of the last messages had results.
  bool missing() const noexcept { return missed_.load(std::memory_order_relaxed) >= kMissedUntilWarning; }

 private:
  std::atomic<unsigned> missed_{0};
};

}  // namespace bloomgate
