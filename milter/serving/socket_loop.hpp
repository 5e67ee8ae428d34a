// One thread that takes the connections to a listening socket, and runs what is done with them: what the daemon's own
// servers share. No session of the mail server waits for it.
//
// Asio and Boost.Beast's stream with deadlines do the work, in socket_loop.cpp alone: their headers take a compiler
// longer than a server of ours. They serve TCP and unix sockets alike.
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

// One connection. All of it runs in the thread of its loop; it may be handed on between two operations.
//
// Of reading and writing one at a time may be under way. When it is done, `done` is called; where the client is gone or
// the deadline has passed, `done` is destroyed without a call, and with it whatever it holds.
class ClientStream {
 public:
  // Takes the connected socket over; `context` runs it. Throws std::bad_alloc.
  ClientStream(boost::asio::io_context& context, int descriptor);
  ClientStream(ClientStream&&) noexcept;
  ~ClientStream();  // ends the connection

  // For all that follows, until it is set anew.
  void expire_after(std::chrono::milliseconds time);
  void expire_never();

  // Some bytes, at least one, into `room`, which must stay until then. Throws std::bad_alloc, as the next one does.
  void read_some(std::span<char> room, std::function<void(std::size_t)> done);
  // All of `text`, which must stay until then.
  void write(std::string_view text, std::function<void()> done);
  // Has the loop's thread do that; from any thread, while the loop is there. What is not done by its end is destroyed
  // then. Throws std::bad_alloc.
  void post(std::function<void()> work);
  // The client sees the end of what was written, and may still write itself.
  void end_writing() noexcept;
  // At once, in the middle of what is under way.
  void hang_up() noexcept;

 private:
  struct Socket;
  std::unique_ptr<Socket> socket_;
};

// A server has one as a member, behind whatever its connections use. All handlers are called by its thread.
class SocketLoop {
 public:
  struct Handlers {
    // Whether another connection may be taken; asked anew after each event. The others wait in the kernel's queue.
    std::function<bool()> has_room;
    // Takes a connection. If it throws, or a handler of its own does later, that is reported, and the loop goes on.
    std::function<void(ClientStream)> take;
    // Called with what went wrong, on one line; must not throw. May be empty.
    std::function<void(const std::string&)> on_fault;
    // Called each time `interval` has passed; may be empty, must not throw.
    std::function<void()> tick = nullptr;
    std::chrono::milliseconds interval{60000};
  };

  // For the socket that listens on `descriptor`, which is duplicated. `whose` says in messages which one that is: "of
  // the status page". Throws BloomgateError{no_system_resource}.
  SocketLoop(int descriptor, std::string whose, Handlers handlers);
  // Waits for the handler that is running, and calls no other one.
  ~SocketLoop();
  SocketLoop(const SocketLoop&) = delete;
  SocketLoop& operator=(const SocketLoop&) = delete;

  void report(const std::string& what) const noexcept;

  // Once. Throws BloomgateError{no_system_resource}.
  void start();

 private:
  class Running;
  const std::unique_ptr<Running> running_;
};

}  // namespace bloomgate
