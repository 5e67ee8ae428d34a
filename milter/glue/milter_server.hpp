// Runs libmilter: registers the callbacks and serves the socket in a separate thread. A process can have only one, and
// only once, since libmilter keeps its state in globals.
//
// It cannot be stopped: libmilter never joins its session threads, takes seconds to stop its own, and has data races
// while it stops. So it serves until the process ends by std::_Exit(), which closes every connection at once.
//
// This is glue. Used by one thread; `on_end` is called from another one.
#pragma once

#include <functional>
#include <memory>

#include "milter/glue/callbacks.hpp"
#include "milter/glue/connection_watch.hpp"
#include "milter/glue/listening_socket.hpp"

namespace bloomgate {

class MilterServer {
 public:
  // Starts serving `socket`; from then on mail servers are answered. `parts` and `watch` must live until the process
  // ends; `watch` counts the connections that are ended. `on_end` is called if libmilter returns by itself, because it
  // failed (false) or got a signal to stop (true). Signals must be blocked (wakeup.hpp). Throws
  // BloomgateError{no_system_resource, library_failed}.
  MilterServer(const PartsSlot& parts, std::unique_ptr<ListeningSocket> socket, ConnectionWatch& watch,
               std::function<void(bool)> on_end);

 private:
  std::unique_ptr<ListeningSocket> socket_;  // to remove its path at the end
};

}  // namespace bloomgate
