#include "milter/monitoring/http_server.hpp"

#include <utility>

#include "milter/serving/http_connection.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {

// All of it runs in the loop's thread, but for the constructor and the destructor, which run before and after it.
class HttpServer::Loop {
 public:
  Loop(int descriptor, Handlers handlers, const HttpLimits& limits)
      : handlers_(std::move(handlers)),
        limits_(limits),
        for_each_({.answer = handlers_.reply, .on_fault = [this](const std::string& what) { socket_.report(what); }}),
        socket_(descriptor, "of the status page",
                {.has_room = [this] { return open_ < limits_.connections; },
                 .take = [this](ClientStream stream) { take(std::move(stream)); },
                 .on_fault = handlers_.on_fault,
                 .tick = handlers_.tick,
                 .interval = handlers_.interval}) {
    socket_.start();
  }

  ~Loop() { socket_.stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

 private:
  void take(ClientStream stream) {
    ++open_;
    std::shared_ptr<void> place(&open_, [this](void*) { --open_; });
    std::make_shared<HttpConnection>(std::move(stream), limits_, for_each_, std::move(place))->begin();
  }

  const Handlers handlers_;
  const HttpLimits limits_;
  const HttpConnection::Handlers for_each_;
  std::size_t open_ = 0;
  SocketLoop socket_;
};

HttpServer::HttpServer(int descriptor, Handlers handlers, HttpLimits limits)
    : loop_(std::make_unique<Loop>(descriptor, std::move(handlers), limits)) {}

HttpServer::~HttpServer() = default;

}  // namespace bloomgate
