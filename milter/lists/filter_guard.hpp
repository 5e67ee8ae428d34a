// Watches over the whitelists in use, in a separate thread, so that damage is found even if no mail arrives, and even
// where no look-up would notice it:
//
//  - A program writes to a file in place: noticed at once, by inotify(7) on the mapped file itself, and on the store's.
//  - Bytes go bad in memory, or on disk before they are read: all checksums of the filters are verified in an endless
//    loop, a MiB at a time, slowly enough not to disturb. A page of a store is checked each time it is read.
//
// It notes damage in the LoadedFilter, where each decision sees it, and reports it once. It takes no lock for which a
// session waits. Made and used by the supervisor, in one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "filter/system/file_descriptor.hpp"
#include "milter/lists/loaded_filter.hpp"

namespace bloomgate {

class FilterGuard {
 public:
  using Filters = std::vector<std::shared_ptr<const LoadedFilter>>;

  // Verifies `bytes_per_hour` bytes of checksums, 0: none. `on_damage` may be called from any thread, once for each
  // filter that is newly found to be damaged; it must not block. Throws BloomgateError{no_system_resource}.
  FilterGuard(std::uint64_t bytes_per_hour, std::function<void()> on_damage);
  // Ends the thread at once, or after the MiB that it is reading.
  ~FilterGuard();
  FilterGuard(const FilterGuard&) = delete;
  FilterGuard& operator=(const FilterGuard&) = delete;

  // Watches these filters from now on, and no longer the previous ones; null pointers are skipped. Verification starts
  // again at the first filter. Returns the paths that cannot be watched, since the system has no inotify watch left:
  // writes to these files are then noticed at the next message.
  std::vector<std::string> watch(Filters filters);

 private:
  using Clock = std::chrono::steady_clock;

  struct Watched {
    std::shared_ptr<const LoadedFilter> filter;
    int watch;        // inotify's number; -1: none
    int store_watch;  // that of its store; -1: none
  };

  void run();
  void wait() noexcept;
  int add_watch(int descriptor) noexcept;
  void end_watches(Watched& watched) noexcept;
  void take_events();
  bool report(const LoadedFilter& filter) const;  // whether it is damaged
  void check_next_chunk();

  const std::function<void()> on_damage_;
  const Clock::duration interval_;  // between two chunks; 0: none is checked
  FileDescriptor inotify_;
  FileDescriptor wakeup_;
  std::mutex mutex_;  // protects the members below
  std::vector<Watched> watched_;
  std::size_t next_filter_ = 0;
  std::uint64_t next_chunk_ = 0;
  bool is_ending_ = false;
  Clock::time_point next_check_;  // used by the thread only
  std::thread thread_;            // the last member, since it uses the others
};

}  // namespace bloomgate
