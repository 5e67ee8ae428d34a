// A web server for a few small pages: GET and HEAD, one request a connection, and nothing else. It has a thread of its
// own, which runs no session and which no session waits for, so whatever a client of it does, mail goes on.
//
// A client may be hostile: a connection has a deadline for its request and one for its answer, however slowly its bytes
// come; a request's header has a limit, and no body is read; a bounded number of connections is served, and the others
// wait in the kernel's queue.
//
// Boost.Beast and Asio speak HTTP here. They serve TCP and unix sockets alike; prometheus-cpp's own server (civetweb)
// has no unix sockets, and no page beside the metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bloomgate {

struct HttpRequest {
  std::string_view target;  // as it came: "/metrics"; any bytes but control bytes
  std::string_view host;    // of the field Host, with its port if it has one; empty: there was none
};

struct HttpReply {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
};

struct HttpLimits {
  std::size_t connections = 16;
  std::size_t header_bytes = 8192;
  std::chrono::milliseconds request{5000};  // from the first byte to the last, and then as long for the answer
  std::chrono::milliseconds answer{5000};
};

class HttpServer {
 public:
  struct Handlers {
    // Makes a page. Called by the server's thread, for one request at a time. If it throws, the reply is status 500.
    std::function<HttpReply(const HttpRequest&)> reply;
    // Called by the server's thread each time `interval` has passed; may be empty, must not throw.
    std::function<void()> tick = nullptr;
    std::chrono::milliseconds interval{60000};
    // Called by the server's thread with what went wrong, on one line; must not throw.
    std::function<void(const std::string&)> on_fault = nullptr;
  };

  // Serves the socket that listens on `descriptor`, which is duplicated. Throws BloomgateError{no_system_resource}.
  HttpServer(int descriptor, Handlers handlers, HttpLimits limits = {});
  // Ends all connections at once, and waits only for a page that is being made.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// Whether only programs of this machine can reach the socket that listens on `descriptor`: a unix socket, 127.0.0.0/8,
// ::1.
bool is_local_socket(int descriptor) noexcept;

// Whether that value of a field Host can come from somebody who meant this machine: it is an IP address, or localhost.
// A web page from elsewhere may let a name of its own point to 127.0.0.1, and then have the browser of somebody who
// works on this machine read what is here (DNS rebinding); its Host is that name.
bool names_this_machine(std::string_view host) noexcept;

}  // namespace bloomgate
