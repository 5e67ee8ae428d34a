// Works around a flaw of libmilter's thread pool (worker.c): libmilter counts a thread that it wakes as idle until the
// thread runs, so it may wake one thread for two sessions. The second session then waits for the next event of any
// session. That may last as long as the first thread waits for a checker, a name server, a disk, or the rest of a step,
// and a listed message would be delayed, too. A connection to our own socket is such an event, for which libmilter
// starts a thread.
//
// Code that is about to wait calls wake() first, through before_waiting(). After a second in which no session took a
// step, ConnectionWatch calls wake_forgotten(). Does not depend on libmilter.
#pragma once

#include <functional>

#include "milter/glue/own_connections.hpp"

namespace bloomgate {

class PoolWaker {
 public:
  // `connections` must outlive the object; as long as they have no listener, all calls do nothing.
  explicit PoolWaker(const OwnConnections& connections) : connections_(connections) {}

  // Connects to the socket, and closes the connection at once. Never waits; if it cannot connect, it does nothing. Safe
  // from any thread.
  void wake() const noexcept;

  // Returns a function that calls wake(), for code that does not know this class. The object must outlive it.
  std::function<void()> before_waiting() const {
    return [this] { wake(); };
  }

  // Calls wake() once for each connection with data that no thread has read. If libmilter waits for the rest of a step,
  // the data so far has been read, so such a connection does not count. A connection at work may count, which costs one
  // event. One thread at a time, the one of OwnConnections::for_each(). Returns how many connections counted.
  std::size_t wake_forgotten() const noexcept;

 private:
  const OwnConnections& connections_;
};

}  // namespace bloomgate
