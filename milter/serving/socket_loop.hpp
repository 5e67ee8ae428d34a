// One thread that takes the connections to a listening socket, and runs what is done with them, by Asio: what the
// daemon's own servers share. No session of the mail server waits for it.
//
// A server has one as a member, behind whatever its connections use. All handlers are called by that thread.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace bloomgate {

class SocketLoop {
 public:
  using Protocol = boost::asio::generic::stream_protocol;
  // Named, since Asio's default is one for all executors, for which each operation takes twice as long to compile.
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<Protocol, Executor>;
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

  struct Handlers {
    // Whether another connection may be taken; asked anew after each event. The others wait in the kernel's queue.
    std::function<bool()> has_room;
    // Takes a connection. If it throws, or a handler of its own does later, that is reported, and the loop goes on.
    std::function<void(Socket)> take;
    // Called with what went wrong, on one line; must not throw. May be empty.
    std::function<void(const std::string&)> on_fault;
  };

  // For the socket that listens on `descriptor`, which is duplicated. `whose` says in messages which one that is: "of
  // the status page". Throws BloomgateError{no_system_resource}.
  SocketLoop(int descriptor, std::string whose, Handlers handlers);
  SocketLoop(const SocketLoop&) = delete;
  SocketLoop& operator=(const SocketLoop&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }
  void report(const std::string& what) const noexcept;

  // Once. Throws BloomgateError{no_system_resource}.
  void start();
  // Waits for the handler that is running, and calls no other one. Before the end, if it was started.
  void stop();

 private:
  void run() noexcept;
  void accept();

  const std::string whose_;
  const Handlers handlers_;
  bool is_accepting_ = false;  // or pausing, to do so again
  boost::asio::io_context context_{1};
  boost::asio::basic_socket_acceptor<Protocol, Executor> acceptor_;
  Timer pause_;
  std::thread thread_;
};

}  // namespace bloomgate
