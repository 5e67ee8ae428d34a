// Runs libmilter: registers the callbacks and serves the socket in a thread of its own. There can be one in a process,
// once, since libmilter keeps its state in globals.
//
// It cannot be stopped: libmilter never joins its session threads, takes seconds to stop its own, and races with itself
// on the way. So it serves until the process ends, by std::_Exit(), which closes every connection at once.
//
// This is glue. Used by one thread; `on_end` is called from another.
#pragma once

#include <functional>
#include <memory>

#include "milter/glue/callbacks.hpp"
#include "milter/glue/connection_watch.hpp"
#include "milter/glue/listening_socket.hpp"

namespace bloomgate {

class MilterServer {
 public:
  // Starts serving `socket`; from then on mail servers are answered. `parts` must live until the process ends.
  // `watch` is told of connections that are ended; it must live as long.
  // `on_end` is called with whether all was well when libmilter has returned by itself: it failed, or it took a signal
  // to stop. Signals must be held (wakeup.hpp). Throws BloomgateError{no_system_resource, library_failed}.
  MilterServer(const PartsSlot& parts, std::unique_ptr<ListeningSocket> socket, ConnectionWatch& watch,
               std::function<void(bool)> on_end);

 private:
  std::unique_ptr<ListeningSocket> socket_;  // to remove its path at the end
};

}  // namespace bloomgate
