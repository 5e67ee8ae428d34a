// Counts the messages since the last one that had authentication results from a trusted source. If authentication is
// required and no results arrive, nothing is delivered, and the operator should learn why. Safe from any thread,
// without locks.
#pragma once

#include <atomic>

namespace bloomgate {

class ResultsWatch {
 public:
  static constexpr unsigned kMissedUntilWarning = 1000;

  // To be called when a message was decided. Returns true if that changes missing().
  bool note(bool had_trusted_results) noexcept {
    if (had_trusted_results) return missed_.exchange(0, std::memory_order_relaxed) >= kMissedUntilWarning;
    // The count stops there, since it must not overflow.
    if (missing()) return false;
    return missed_.fetch_add(1, std::memory_order_relaxed) + 1 == kMissedUntilWarning;
  }

  // To be called when other results may be required from now on.
  void begin_again() noexcept { missed_.store(0, std::memory_order_relaxed); }

  // Whether none of the last messages had results.
  bool missing() const noexcept { return missed_.load(std::memory_order_relaxed) >= kMissedUntilWarning; }

 private:
  std::atomic<unsigned> missed_{0};
};

}  // namespace bloomgate
