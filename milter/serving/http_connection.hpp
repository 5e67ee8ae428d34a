// One connection of a client that speaks HTTP: a request and its answer, and as many more of them as its server allows,
// one after the other. What the daemon's own servers share; each of them says who may connect, and what is answered.
//
// A client may be hostile: it has a deadline for each request and one for taking each answer, however slowly its bytes
// come, and header and body have a limit. GET, HEAD and, where bodies are allowed, POST are answered. A body must have
// its length in the header: one in chunks is refused. Another request may follow only where it is certain that the one
// before has been read to its last byte; behind any other the connection ends. Requests that come at once are answered
// one at a time, and other connections have their turn between them.
//
// Boost.Beast and Asio speak HTTP here. They serve TCP and unix sockets alike; prometheus-cpp's own server (civetweb)
// has no unix sockets, and no page beside the metrics.
#pragma once

#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "milter/serving/http_messages.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {

// It lives as long as an operation of it is under way. All of it runs in the thread of its SocketLoop.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  struct Handlers {
    // If it throws, the answer is status 500.
    std::function<HttpAnswer(const HttpRequest&)> answer;
    // Called with what went wrong, on one line; must not throw.
    std::function<void(const std::string&)> on_fault;
  };

  // `limits` and `handlers` must outlive it. `place` is let go at its end. `on_request` is called each time a request
  // begins, and must not throw. `read` is what has come of the first request already: at most twice header_bytes.
  // Throws std::bad_alloc.
  HttpConnection(SocketLoop::Socket socket, const HttpLimits& limits, const Handlers& handlers,
                 std::shared_ptr<void> place, std::function<void()> on_request = nullptr, std::string_view read = {});
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void begin();
  // Ends it at once.
  void hang_up() { stream_.close(); }

 private:
  using Fault = boost::system::error_code;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  bool refuse(const Fault& fault);
  bool may_go_on() const;
  void take_header();
  HttpAnswer answer_of(bool is_post) const;
  void send(HttpAnswer answer, bool with_body = true);
  void sent(const Fault& fault);
  void await_next();
  void end();
  void drain();

  const HttpLimits& limits_;
  const Handlers& handlers_;
  const std::shared_ptr<void> place_;
  const std::function<void()> on_request_;
  boost::beast::basic_stream<SocketLoop::Protocol, SocketLoop::Executor> stream_;
  boost::beast::flat_buffer buffer_;
  // Of the request in hand, each anew.
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  std::optional<Response> response_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::string_body>> serializer_;
  std::size_t requests_ = 0;  // that have begun
};

}  // namespace bloomgate
