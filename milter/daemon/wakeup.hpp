// How signals and other threads reach the supervisor: each event is a bit, and an eventfd wakes the thread that waits
// for them. Events of one kind count once until they are taken.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

class Wakeup {
 public:
  using Events = unsigned;
  static constexpr Events kReload = 1;       // load the lists again
  static constexpr Events kStop = 2;         // end the daemon
  static constexpr Events kDamage = 4;       // a whitelist in use turned out to be damaged
  static constexpr Events kMilterEnded = 8;  // libmilter has returned
  static constexpr Events kLearning = 32;    // learning has stopped or resumed
  static constexpr Events kResults = 16;     // trusted authentication results have stopped or resumed

  // Throws BloomgateError{no_system_resource}.
  Wakeup();

  // Safe from any thread and from signal handlers.
  void post(Events events) noexcept;

  // Waits for an event, and takes all that are pending. Returns no event if `descriptor` has become readable or `limit`
  // has passed. To be called by one thread only.
  Events wait(int descriptor = -1, std::optional<std::chrono::milliseconds> limit = std::nullopt) noexcept;

 private:
  std::atomic<Events> pending_{0};
  FileDescriptor eventfd_;
};

// Routes SIGUSR1 to kReload, and SIGTERM, SIGINT and SIGHUP to kStop. `wakeup` must live as long as the process. The
// main thread should get these signals: see hold_signals().
void route_signals(Wakeup& wakeup);

// hold_signals() blocks these signals in the calling thread, and in all threads that it starts from now on;
// release_signals() unblocks them in the calling thread. libmilter waits for SIGTERM, SIGINT and SIGHUP in its own
// thread, but the kernel offers a process's signal to the main thread first, unless that thread blocks it. If libmilter
// does get one, it stops by itself, which takes up to five seconds.
void hold_signals();
void release_signals();

}  // namespace bloomgate
