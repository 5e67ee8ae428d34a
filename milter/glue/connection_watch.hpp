// Bounds what the mail servers' connections may take: how many are open, and how long one may stay without a whole step
// of the protocol. libmilter's own timeout begins anew with each byte, it looks at connections that wait every ten
// minutes only, and it has no limit for their number.
//
// A connection has a Place, from its first step until it is closed. A thread looks once a second, and shuts down
// (shutdown(2)) the socket of one that is late; libmilter then finds it ended, and closes it. Connections that have
// taken no step have no place: every five seconds they are found among the process's descriptors. Time is counted in
// the thread's seconds, so that a daemon that was stopped for a while ends nothing when it goes on.
//
// A thread that hangs while it decides a message is noticed by the time that this takes. Each second in which none
// hangs is told (set_pulse()), so that systemd's watchdog starts the daemon again where one does.
//
// Knows nothing of libmilter. Safe from any thread, but for start().
#pragma once

#include <spdlog/fwd.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "filter/system/file_descriptor.hpp"
#include "milter/glue/own_connections.hpp"
#include "milter/monitoring/tally.hpp"

namespace bloomgate {

// Lets the process open as many descriptors as so many connections need, as far as it may. Returns how many connections
// there is room for; at least so many if all is well.
std::size_t make_room_for_connections(std::size_t connections) noexcept;

class ConnectionWatch {
 public:
  struct Limits {
    std::size_t connections = 0;
    std::chrono::seconds timeout{0};  // for a whole step
    // What the daemon may itself take for a message; more is a thread that hangs. Without a limit none is noticed.
    std::chrono::seconds longest_work = std::chrono::seconds::max();
  };

  // The first step is due sooner: a mail server sends it at once.
  static constexpr std::chrono::seconds kFirstStep{30};

  class Place {
   public:
    // `watch` may be null: then nothing is bounded. `socket` counts only where it is a connection to our own socket.
    // Throws std::bad_alloc.
    Place(ConnectionWatch* watch, int socket);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // A whole step has come.
    void heard() noexcept;
    // From here to the next step nothing is late: the daemon itself takes its time.
    void begin_work() noexcept;

    // If not, the connection is one too many.
    bool is_within_limit() const noexcept { return is_within_limit_; }
    // The mail server finds the connection ended, as libmilter does. Returns false where its socket is not known.
    bool hang_up() noexcept;

   private:
    friend class ConnectionWatch;
    static constexpr std::uint32_t kAtWork = UINT32_MAX;

    ConnectionWatch* const watch_;
    const int socket_;  // -1: not known
    std::atomic<std::uint32_t> heard_{0};
    std::atomic<std::uint32_t> began_{0};  // to work
    bool is_within_limit_ = true;
    bool is_cut_off_ = false;
  };

  // `tally` may be null: nobody watches.
  ConnectionWatch(const Limits& limits, std::shared_ptr<spdlog::logger> log, Tally* tally);
  ~ConnectionWatch();
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

  // The connections are those to `listener`, which must stay open. Before the first one. Throws
  // BloomgateError{no_system_resource}.
  void listen_on(int listener);
  // Called after each second without a step on any connection (PoolWaker). Must neither throw nor wait. Before start().
  void set_on_quiet(std::function<void()> on_quiet) { on_quiet_ = std::move(on_quiet); }
  // Called at the end of each second in which no thread hangs. Must neither throw nor wait. Before start().
  void set_pulse(std::function<void()> pulse) { pulse_ = std::move(pulse); }
  // Those to the listener.
  const OwnConnections& connections() const noexcept { return connections_; }
  // Calls end_second() once a second. Throws std::system_error.
  void start();

  // From now on, for connections that are open too; of more than the limit none is ended. The longest work never
  // becomes shorter: what is under way goes by what was configured when it began.
  void set_limits(const Limits& limits);

  // A connection was ended, since no descriptor was free for it, or for its macros (packet_check.hpp).
  void note_without_descriptor() noexcept;
  void note_unpaired_macros() noexcept;

  // What the thread does once a second.
  void end_second() noexcept;

 private:
  // What happens many times a second is said once a minute.
  struct Events {
    std::uint64_t unsaid = 0;
    std::uint32_t said_at = 0;  // 0: never
  };
  struct Silent {
    std::uint32_t since = 0;
    bool is_cut_off = false;
  };

  bool enter(Place& place);
  void leave(Place& place) noexcept;
  bool was_quiet() noexcept;
  bool hangs() const noexcept;
  void say_whether_it_hangs(bool hangs);
  void cut_off_late();
  void cut_off_silent();
  void look_at(int descriptor, std::unordered_map<ino_t, Silent>& seen);
  void say_all();
  template <class... Values>
  void say(Events& events, const char* text, const Values&... values);

  const std::shared_ptr<spdlog::logger> log_;
  Tally* const tally_;
  OwnConnections connections_;
  std::function<void()> on_quiet_;  // may be null
  std::function<void()> pulse_;     // may be null
  FileDescriptor reserve_;          // where a duplicate goes when no descriptor is left

  std::mutex mutex_;
  Limits limits_;
  std::unordered_set<Place*> places_;
  std::unordered_map<ino_t, Silent> silent_;
  Events turned_away_, late_, never_spoke_, without_descriptor_, unpaired_macros_;
  bool hang_was_said_ = false;  // the thread's own

  std::atomic<std::uint32_t> second_{1};
  std::condition_variable wanted_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace bloomgate
