// A web server for a few small pages: GET and HEAD, one request a connection, and nothing else. It has its own thread,
// which runs no session and for which no session waits. So whatever a client does, mail continues.
//
// A client may be hostile; the deadlines and limits of HttpConnection apply. No request body is read. A bounded number
// of connections is served, and the others wait in the kernel's queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "milter/serving/http_connection.hpp"
#include "milter/serving/http_messages.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {

class HttpServer {
 public:
  struct Handlers {
    // Makes a page. Called by the server's thread, for one request at a time. If it throws, the reply has status 500.
    std::function<HttpAnswer(const HttpRequest&)> reply;
    // Called by the server's thread each time `interval` has passed; may be empty, must not throw.
    std::function<void()> tick = nullptr;
    std::chrono::milliseconds interval{60000};
    // Called by the server's thread with a description of a fault, in one line; must not throw.
    std::function<void(const std::string&)> on_fault = nullptr;
  };

  // Serves the socket that listens on `descriptor`, which is duplicated. Throws BloomgateError{no_system_resource}.
  HttpServer(int descriptor, const Handlers& handlers, const HttpLimits& limits = {});
  // Ends all connections at once, and waits only for a page that is being made.
  ~HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  void take(ClientStream stream);

  const HttpLimits limits_;
  const HttpConnection::Handlers for_each_;
  std::size_t open_ = 0;  // used by the server's thread only
  SocketLoop socket_;
};

}  // namespace bloomgate
