// Runs libmilter: registers the callbacks, serves the socket in a thread of its own, and stops. There can be one in a
// process, once, since libmilter keeps its state in globals.
//
// This is glue. Used by one thread; `on_end` is called from another.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>

#include "milter/callbacks.hpp"
#include "milter/listening_socket.hpp"

namespace bloomgate {

class MilterServer {
 public:
  // Starts serving `socket`; from then on mail servers are answered. `context` must outlive the process's session
  // threads, which libmilter never joins. `on_end` is called once, when libmilter has returned, for whatever reason.
  // Signals must be held (wakeup.hpp). Throws StartError.
  MilterServer(const CallbackContext& context, std::unique_ptr<ListeningSocket> socket, std::function<void()> on_end);

  // Stops accepting connections, and waits for that. Those that are there stay, for as long as the process lives.
  // Returns whether libmilter ended well.
  bool stop();

 private:
  std::unique_ptr<ListeningSocket> socket_;
  std::future<int> result_;
};

}  // namespace bloomgate
