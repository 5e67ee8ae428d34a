// One connection of a client that speaks HTTP: a request and its answer, and as many more of them as its server allows,
// one after the other. What the daemon's own servers share; each of them says who may connect, and what is answered.
//
// A client may be hostile: it has a deadline for each request and one for taking each answer, however slowly its bytes
// come, and header and body have a limit. GET, HEAD and, where bodies are allowed, POST are answered. A body must have
// its length in the header: one in chunks is refused. Another request may follow only where it is certain that the one
// before has been read to its last byte; behind any other the connection ends. Requests that come at once are answered
// one at a time, and other connections have their turn between them. An answer that takes long is made in another
// thread (HttpAdmission); the client may be told to send its body before (RFC 9110 section 10.1.1).
//
// Boost.Beast reads the requests. prometheus-cpp's own server (civetweb) has no unix sockets, and no page beside the
// metrics.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milter/serving/http_messages.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {

// It lives as long as an operation of it is under way. All of it runs in the thread of its SocketLoop.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  struct Handlers {
    // If it throws, the answer is status 500; so with the next one.
    std::function<HttpAnswer(const HttpRequest&)> answer;
    // Called for each POST that has told its length, before its body comes. Null: a body has HttpLimits::body_bytes.
    std::function<HttpAdmission(const HttpRequest&)> admit = nullptr;
    // Called with what went wrong, on one line; must not throw.
    std::function<void(const std::string&)> on_fault;
  };

  // `limits` and `handlers` must outlive it. `place` is let go at its end. `on_request` is called each time a request
  // begins, and must not throw. `read` is what has come of the first request already: at most twice header_bytes.
  // Throws std::bad_alloc.
  HttpConnection(ClientStream stream, const HttpLimits& limits, const Handlers& handlers, std::shared_ptr<void> place,
                 std::function<void()> on_request = nullptr, std::string_view read = {});
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void begin();
  // Whether a request of it was admitted and has a place, and its answer is not taken yet.
  bool has_place() const noexcept;
  // Ends it at once.
  void hang_up() { stream_.hang_up(); }

 private:
  struct Request;
  struct Later;

  void read();
  void parse();
  void take_header();
  void take_body(std::size_t most_bytes);
  void answer_post();
  void answer_later();
  static void give(const std::shared_ptr<Later>& later) noexcept;
  HttpRequest asked() const;
  HttpAnswer answer_of(bool is_post) const;
  HttpAnswer failed(const std::exception& error) const;
  bool may_go_on() const;
  void send(const HttpAnswer& answer, bool with_body = true);
  void sent();
  void end();
  void drain();

  const HttpLimits& limits_;
  const Handlers& handlers_;
  const std::shared_ptr<void> place_;
  const std::function<void()> on_request_;
  ClientStream stream_;
  std::vector<char> buffer_;
  std::size_t held_ = 0;              // at the front of the buffer: what has come and is not parsed yet
  std::size_t requests_ = 0;          // that have begun
  std::unique_ptr<Request> request_;  // in hand; none between two of them
  std::string answer_;                // that is being taken
  bool goes_on_ = false;              // behind that answer
  unsigned status_ = 0;               // of that answer
  bool has_unread_body_ = false;      // behind that answer
};

}  // namespace bloomgate
