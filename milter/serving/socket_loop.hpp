// One thread that accepts the connections to a listening socket, and runs their handlers. The daemon's own servers
// share this class. No session of the mail server waits for it.
//
// Asio and Boost.Beast's stream with deadlines do the work, only in socket_loop.cpp: their headers take longer to
// compile than one of our servers. They support TCP and unix sockets alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace boost::asio {
class io_context;
}

namespace bloomgate {

// One connection. All of it runs in the thread of its loop; it may be moved to another owner between two operations.
//
// Only one read or write may be in progress at a time. When it is complete, `done` is called. If the client is gone or
// the deadline has passed, `done` is destroyed without a call, together with everything that it holds.
class ClientStream {
 public:
  // Takes ownership of the connected socket; `context` runs it. Throws std::bad_alloc.
  ClientStream(boost::asio::io_context& context, int descriptor);
  ClientStream(ClientStream&&) noexcept;
  ~ClientStream();  // ends the connection

  // The deadline for all later operations, until it is set again.
  void expire_after(std::chrono::milliseconds time);
  void expire_never();

  // Reads some bytes, at least one, into `room`, which must exist until `done`. Throws std::bad_alloc, and so does the
  // next function.
  void read_some(std::span<char> room, std::function<void(std::size_t)> done);
  // Writes all of `text`, which must exist until `done`.
  void write(std::string_view text, std::function<void()> done);
  // Lets the loop's thread run `work`; from any thread, while the loop exists. Work that is not done when the loop ends
  // is destroyed. Throws std::bad_alloc.
  void post(std::function<void()> work);
  // The client sees the end of what was written, and may still write.
  void end_writing() noexcept;
  // Ends the connection at once, even during an operation.
  void hang_up() noexcept;

 private:
  struct Socket;
  std::unique_ptr<Socket> socket_;
};

// A server has one as a member, after everything that its connections use. Its thread calls all handlers.
class SocketLoop {
 public:
  struct Handlers {
    // Whether another connection may be accepted; asked after each event. The others wait in the kernel's queue.
    std::function<bool()> has_room;
    // Receives a connection. If it throws, or one of its own handlers does later, the error is reported, and the loop
    // continues.
    std::function<void(ClientStream)> take;
    // Called with a description of a fault, in one line; must not throw. May be empty.
    std::function<void(const std::string&)> on_fault;
    // Called each time `interval` has passed; may be empty, must not throw.
    std::function<void()> tick = nullptr;
    std::chrono::milliseconds interval{60000};
  };

  // For the socket that listens on `descriptor`, which is duplicated. `whose` identifies it in messages: "of the status
  // page". Throws BloomgateError{no_system_resource}.
  SocketLoop(int descriptor, std::string whose, Handlers handlers);
  // Waits for the handler that is running, and calls no further one.
  ~SocketLoop();
  SocketLoop(const SocketLoop&) = delete;
  SocketLoop& operator=(const SocketLoop&) = delete;

  void report(const std::string& what) const noexcept;

  // May be called once. Throws BloomgateError{no_system_resource}.
  void start();

 private:
  class Running;
  const std::unique_ptr<Running> running_;
};

}  // namespace bloomgate
