// Watches over the whitelists that are in use, in a thread of its own, so that damage is found when no mail comes, and
// where no look-up would see it:
//
//  - somebody writes to a file in place: noticed at once, by inotify(7) on the very file that is mapped, and on that of
//    the store;
//  - bytes go bad in memory, or on the disk before they are read: all checksums of the filters are gone over again and
//    again, a MiB at a time, at a pace that nobody notices. A page of a store is checked each time it is read.
//
// What it finds it notes in the LoadedFilter, from where each decision takes it, and reports once. It takes no lock
// that a session waits for. Made and used by the supervisor, in one thread.
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

  // Checks `bytes_per_hour` of checksums, 0: none. `on_damage` is called from any thread, once for each filter that
  // turns out damaged and was not reported yet; it must not block. Throws BloomgateError{no_system_resource}.
  FilterGuard(std::uint64_t bytes_per_hour, std::function<void()> on_damage);
  // Ends the thread: at once, or after the MiB that it is reading.
  ~FilterGuard();
  FilterGuard(const FilterGuard&) = delete;
  FilterGuard& operator=(const FilterGuard&) = delete;

  // From now on these are watched, and those from before no longer; null ones are left out. The check starts again at
  // the first. Returns the paths that cannot be watched, since the system has no inotify left: writes to them are then
  // noticed at the next message.
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
  std::mutex mutex_;  // for what is below
  std::vector<Watched> watched_;
  std::size_t next_filter_ = 0;
  std::uint64_t next_chunk_ = 0;
  bool is_ending_ = false;
  Clock::time_point next_check_;  // the thread's own
  std::thread thread_;            // the last member, since it uses the others
};

}  // namespace bloomgate
