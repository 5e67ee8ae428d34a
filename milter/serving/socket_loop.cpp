#include "milter/serving/socket_loop.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/system/held_signals.hpp"

namespace bloomgate {
namespace {

namespace asio = boost::asio;
using Fault = boost::system::error_code;
using Protocol = asio::generic::stream_protocol;
// Named explicitly: Asio's default executor is a generic one, with which each operation takes twice as long to compile.
using Executor = asio::io_context::executor_type;
using Connected = asio::basic_stream_socket<Protocol, Executor>;
using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

constexpr std::chrono::milliseconds kAfterFault{1000};

int duplicate(int descriptor, const std::string& whose) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) return copy;
  throw BloomgateError(ErrorCode::no_system_resource,
                       "cannot duplicate the socket " + whose + ": " + std::generic_category().message(errno));
}

int family_of(int descriptor) noexcept {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof address;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes);
  return address.ss_family;
}

}  // namespace

struct ClientStream::Socket {
  explicit Socket(Connected socket) : stream(std::move(socket)) {}
  boost::beast::basic_stream<Protocol, Executor> stream;
};

ClientStream::ClientStream(asio::io_context& context, int descriptor)
    : socket_(
          std::make_unique<Socket>(Connected(context.get_executor(), Protocol(family_of(descriptor), 0), descriptor))) {
}
ClientStream::ClientStream(ClientStream&&) noexcept = default;
ClientStream::~ClientStream() = default;

void ClientStream::expire_after(std::chrono::milliseconds time) {
  socket_->stream.expires_after(time);
}

void ClientStream::expire_never() {
  socket_->stream.expires_never();
}

void ClientStream::read_some(std::span<char> room, std::function<void(std::size_t)> done) {
  socket_->stream.async_read_some(asio::buffer(room.data(), room.size()),
                                  [done = std::move(done)](const Fault& fault, std::size_t count) {
                                    if (!fault) done(count);
                                  });
}

void ClientStream::write(std::string_view text, std::function<void()> done) {
  asio::async_write(socket_->stream, asio::buffer(text.data(), text.size()),
                    [done = std::move(done)](const Fault& fault, std::size_t) {
                      if (!fault) done();
                    });
}

void ClientStream::post(std::function<void()> work) {
  asio::post(socket_->stream.get_executor(), std::move(work));
}

void ClientStream::end_writing() noexcept {
  Fault ignored;
  socket_->stream.socket().shutdown(asio::socket_base::shutdown_send, ignored);
}

void ClientStream::hang_up() noexcept {
  socket_->stream.close();
}

class SocketLoop::Running {
 public:
  Running(int descriptor, std::string whose, Handlers handlers)
      : whose_(std::move(whose)),
        handlers_(std::move(handlers)),
        acceptor_(context_, Protocol(family_of(descriptor), 0), duplicate(descriptor, whose_)),
        pause_(context_),
        clock_(context_) {}

  void start() {
    if (handlers_.tick) await_tick();
    accept();
    const HeldSignals held;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      throw BloomgateError(ErrorCode::no_system_resource, "cannot start the thread " + whose_ + ": " + error.what());
    }
  }

  ~Running() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void report(const std::string& what) const noexcept {
    if (handlers_.on_fault) handlers_.on_fault(what);
  }

 private:
  // Accepts the next connection as soon as there is room for it, even after a handler has thrown.
  void run() noexcept {
    for (;;) {
      try {
        while (context_.run_one() != 0) {
          if (!is_accepting_ && handlers_.has_room()) accept();
        }
        return;
      } catch (const std::exception& error) {
        // Most likely memory has run out. The connection in question is closed.
        report(error.what());
      }
    }
  }

  void accept() {
    acceptor_.async_accept([this](const Fault& fault, Connected socket) {
      if (!fault) {
        is_accepting_ = false;
        return handlers_.take(ClientStream(context_, socket.release()));
      }
      // Most likely no descriptor is left. Others need them more, so this can wait.
      report("cannot take a connection: " + fault.message());
      pause_.expires_after(kAfterFault);
      pause_.async_wait([this](const Fault&) { is_accepting_ = false; });
    });
    is_accepting_ = true;
  }

  void await_tick() {
    clock_.expires_after(handlers_.interval);
    clock_.async_wait([this](const Fault& fault) {
      if (fault) return;
      await_tick();
      handlers_.tick();
    });
  }

  const std::string whose_;
  const Handlers handlers_;
  bool is_accepting_ = false;  // or pausing before it accepts again
  asio::io_context context_{1};
  asio::basic_socket_acceptor<Protocol, Executor> acceptor_;
  Timer pause_;
  Timer clock_;
  std::thread thread_;
};

SocketLoop::SocketLoop(int descriptor, std::string whose, Handlers handlers)
    : running_(std::make_unique<Running>(descriptor, std::move(whose), std::move(handlers))) {}

SocketLoop::~SocketLoop() = default;

void SocketLoop::start() {
  running_->start();
}

void SocketLoop::report(const std::string& what) const noexcept {
  running_->report(what);
}

}  // namespace bloomgate
