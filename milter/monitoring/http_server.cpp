#include "milter/monitoring/http_server.hpp"

#include <utility>

#include "milter/serving/http_connection.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {
namespace {

using Fault = boost::system::error_code;

}  // namespace

// All of it runs in the loop's thread, but for the constructor and the destructor, which run before and after it.
class HttpServer::Loop {
 public:
  Loop(int descriptor, Handlers handlers, const HttpLimits& limits)
      : handlers_(std::move(handlers)),
        limits_(limits),
        for_each_({.answer = handlers_.reply, .on_fault = [this](const std::string& what) { socket_.report(what); }}),
        socket_(descriptor, "of the status page",
                {.has_room = [this] { return open_ < limits_.connections; },
                 .take = [this](SocketLoop::Socket socket) { take(std::move(socket)); },
                 .on_fault = handlers_.on_fault}),
        clock_(socket_.context()) {
    if (handlers_.tick) wait_for_tick();
    socket_.start();
  }

  ~Loop() { socket_.stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

 private:
  void wait_for_tick() {
    clock_.expires_after(handlers_.interval);
    clock_.async_wait([this](const Fault& fault) {
      if (fault) return;
      wait_for_tick();
      handlers_.tick();
    });
  }

  void take(SocketLoop::Socket socket) {
    ++open_;
    std::shared_ptr<void> place(&open_, [this](void*) { --open_; });
    std::make_shared<HttpConnection>(std::move(socket), limits_, for_each_, std::move(place))->begin();
  }

  const Handlers handlers_;
  const HttpLimits limits_;
  const HttpConnection::Handlers for_each_;
  std::size_t open_ = 0;
  SocketLoop socket_;
  boost::asio::steady_timer clock_;
};

HttpServer::HttpServer(int descriptor, Handlers handlers, HttpLimits limits)
    : loop_(std::make_unique<Loop>(descriptor, std::move(handlers), limits)) {}

HttpServer::~HttpServer() = default;

}  // namespace bloomgate
