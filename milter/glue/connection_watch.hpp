// Limits the connections of mail servers: how many are open, and how long one may go without a complete step of the
// protocol. libmilter's own timeout restarts with each byte, it looks at waiting connections only every ten minutes,
// and it has no limit on their number.
//
// A connection has a Place from its first step until it is closed. A thread looks once a second, and shuts down
// (shutdown(2)) the socket of a connection that is late; libmilter then sees it end, and closes it. Connections without
// a first step have no place: every five seconds the thread finds them among the descriptors of the process. Time is
// counted in seconds of that thread, so a daemon that was suspended for a while does not end connections when it
// continues.
//
// A thread that hangs in a decision is noticed by the length of its work. For each second in which no thread hangs,
// set_pulse()'s function is called, so that systemd's watchdog restarts the daemon if one does.
//
// Does not depend on libmilter. Safe from any thread, except start().
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

// Raises the limit on open descriptors to what that many connections need, as far as the process may. Returns how many
// connections fit; at least `connections` if it succeeds.
std::size_t make_room_for_connections(std::size_t connections) noexcept;

class ConnectionWatch {
 public:
  struct Limits {
    std::size_t connections = 0;
    std::chrono::seconds timeout{0};  // for one complete step
    // How long the daemon itself may work on a message; a thread that takes longer hangs. Without a limit, no hang is
    // noticed.
    std::chrono::seconds longest_work = std::chrono::seconds::max();
  };

  // The first step has a shorter deadline: a mail server sends it at once.
  static constexpr std::chrono::seconds kFirstStep{30};

  class Place {
   public:
    // `watch` may be null: then there are no limits. `socket` counts only if it is a connection to our own socket.
    // Throws std::bad_alloc.
    Place(ConnectionWatch* watch, int socket);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // A complete step has arrived.
    void heard() noexcept;
    // From now until the next step the connection is not late: the daemon itself is working.
    void begin_work() noexcept;

    // False: the connection exceeds the limit on their number.
    bool is_within_limit() const noexcept { return is_within_limit_; }
    // Shuts the connection down; the mail server and libmilter see it end. Returns false if its socket is unknown.
    bool hang_up() noexcept;

   private:
    friend class ConnectionWatch;
    static constexpr std::uint32_t kAtWork = UINT32_MAX;

    ConnectionWatch* const watch_;
    const int socket_;  // -1: not known
    std::atomic<std::uint32_t> heard_{0};
    std::atomic<std::uint32_t> began_{0};  // to work, in that second
    bool is_within_limit_ = true;
    bool is_cut_off_ = false;
  };

  // `tally` may be null: then nothing is counted.
  ConnectionWatch(const Limits& limits, std::shared_ptr<spdlog::logger> log, Tally* tally);
  ~ConnectionWatch();
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

  // The connections are those to `listener`, which must stay open. To be called before the first one. Throws
  // BloomgateError{no_system_resource}.
  void listen_on(int listener);
  // Called after each second without a step on any connection (PoolWaker). Must neither throw nor wait. To be set
  // before start().
  void set_on_quiet(std::function<void()> on_quiet) { on_quiet_ = std::move(on_quiet); }
  // Called at the end of each second in which no thread hangs. Must neither throw nor wait. To be set before start().
  void set_pulse(std::function<void()> pulse) { pulse_ = std::move(pulse); }
  // The connections to the listener.
  const OwnConnections& connections() const noexcept { return connections_; }
  // Calls end_second() once a second. Throws std::system_error.
  void start();

  // Applies at once, also to open connections; if more are open than the new limit allows, none of them is ended.
  // `longest_work` never becomes shorter, since work in progress follows the configuration with which it began.
  void set_limits(const Limits& limits);

  // Count a connection that was ended because no descriptor was free for it, or because of its macros
  // (packet_check.hpp).
  void note_without_descriptor() noexcept;
  void note_unpaired_macros() noexcept;

  // What the thread does once a second.
  void end_second() noexcept;

 private:
  // Events that may happen many times a second are logged once a minute.
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
  FileDescriptor reserve_;          // a spare descriptor, for a duplicate when no other is left

  std::mutex mutex_;
  Limits limits_;
  std::unordered_set<Place*> places_;
  std::unordered_map<ino_t, Silent> silent_;
  Events turned_away_, late_, never_spoke_, without_descriptor_, unpaired_macros_;
  bool hang_was_said_ = false;  // used by the thread only

  std::atomic<std::uint32_t> second_{1};
  std::condition_variable wanted_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace bloomgate
