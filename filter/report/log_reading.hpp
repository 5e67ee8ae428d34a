// Reads logs, one after the other, and counts the daemon's lines in them. For one thread, which uses others.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "filter/log/log_times.hpp"
#include "filter/report/figures.hpp"

namespace bloomgate {

// What was read, so that an empty report can say what it is based on.
struct ReadCounts {
  std::uint64_t logs = 0;
  std::uint64_t lines = 0;
  std::uint64_t daemon_lines = 0;   // lines of the daemon
  std::uint64_t older_lines = 0;    // of these, before `since`
  std::uint64_t undated_lines = 0;  // of these, with an invalid date
};

class LogReading {
 public:
  // `stop` must outlive the object.
  LogReading(LogTime since, LogTime now, unsigned threads, const std::atomic<bool>& stop)
      : since_(since), now_(now), threads_(threads), stop_(stop) {}

  // A file, compressed or not, or `-` for standard input. Throws what Blocks throws.
  void read(const std::string& path);

  const Figures& figures() const noexcept { return figures_; }
  const ReadCounts& counts() const noexcept { return counts_; }
  // Bytes read so far. Safe from any thread.
  std::uint64_t done_bytes() const noexcept { return done_bytes_.load(std::memory_order_relaxed); }

 private:
  LogTime since_;
  LogTime now_;
  unsigned threads_;
  const std::atomic<bool>& stop_;
  Figures figures_;
  ReadCounts counts_;
  std::uint64_t bytes_before_ = 0;  // of the logs before this one
  std::atomic<std::uint64_t> done_bytes_{0};
};

// The time from which lines of a log count, in the form of `--since`. "30m", "24h", "7d", "2w": so long before `now`.
// "2026-11-20", "2026-11-20 06:00", "2026-11-20 06:00:30": this machine's local time. Throws UsageError.
LogTime parse_since(const std::string& text, LogTime now);

}  // namespace bloomgate
