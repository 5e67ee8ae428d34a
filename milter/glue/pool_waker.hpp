// Deals with a flaw of libmilter's pool of threads (worker.c), and is all that does: libmilter counts a thread that it
// wakes as idle until the thread runs, so it may wake one thread for two sessions. The other session then waits for the
// next event of any session, for as long as the thread waits for a checker, a name server or a disk, or for the rest of
// a step; a listed message would wait with it. A call at our own socket is an event, for which libmilter starts a
// thread.
//
// What is about to wait calls wake() first: it is handed before_waiting(). After a second in which no session took a
// step, ConnectionWatch calls wake_forgotten(). Knows nothing of libmilter.
#pragma once

#include <functional>

#include "milter/glue/own_connections.hpp"

namespace bloomgate {

class PoolWaker {
 public:
  // `connections` must outlive the object; while they have no listener, nothing happens.
  explicit PoolWaker(const OwnConnections& connections) : connections_(connections) {}

  // Calls at the socket, and hangs up at once. Never waits; if it cannot connect, nothing happens. Safe from any
  // thread.
  void wake() const noexcept;

  // The same, for those that know nothing of it. The object must outlive what it returns.
  std::function<void()> before_waiting() const {
    return [this] { wake(); };
  }

  // Calls once for each connection that has sent what no thread has read. One that libmilter awaits the rest of a step
  // from has been read empty. One at work may count, which costs an event. One thread at a time, that of
  // OwnConnections::for_each(). Returns how many there were.
  std::size_t wake_forgotten() const noexcept;

 private:
  const OwnConnections& connections_;
};

}  // namespace bloomgate
