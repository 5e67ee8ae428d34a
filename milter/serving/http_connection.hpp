// One connection of a client that speaks HTTP: a request and its answer, then further ones up to its server's limit,
// one after the other. The daemon's own servers share this class; each server defines who may connect, and what is
// answered.
//
// A client may be hostile. It has a deadline for each request and one for fetching each answer, however slowly its
// bytes arrive, and header and body have a maximum size. Methods are GET, HEAD and, if bodies are allowed, POST. A body
// must have its length in the header; a chunked body is refused. Another request may follow only if the previous one
// has certainly been read to its last byte; otherwise the connection ends. Pipelined requests are answered one at a
// time, and other connections are served between them. An answer that takes long is made in another thread
// (HttpAdmission); the client may be told before that to send its body (RFC 9110 section 10.1.1).
//
// Boost.Beast reads the requests. prometheus-cpp's own server (civetweb) supports neither unix sockets nor pages beside
// the metrics.
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

// The object lives as long as one of its operations is in progress. All of it runs in the thread of its SocketLoop.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  struct Handlers {
    // If it throws, the answer has status 500; the same holds for `admit`.
    std::function<HttpAnswer(const HttpRequest&)> answer;
    // Called for each POST with a length, before its body arrives. Null: HttpLimits::body_bytes limits the body.
    std::function<HttpAdmission(const HttpRequest&)> admit = nullptr;
    // Called for each answer with a status from 400 on that `answer_later` has not made. Also called, with status 0, if
    // a request with a place ends without an answer, since its body did not arrive. May be null; must not throw.
    std::function<void(const HttpRequest&, const HttpAnswer&)> on_refusal = nullptr;
    // Called with a description of a fault, in one line; must not throw.
    std::function<void(const std::string&)> on_fault;
  };

  // `limits` and `handlers` must outlive the object. `place` is released at its end. `on_request` is called each time a
  // request begins, and must not throw. `read` is the part of the first request that was already received: at most
  // twice header_bytes. Throws std::bad_alloc.
  HttpConnection(ClientStream stream, const HttpLimits& limits, const Handlers& handlers, std::shared_ptr<void> place,
                 std::function<void()> on_request = nullptr, std::string_view read = {});
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void begin();
  // Whether one of its requests was admitted and has a place, and its answer has not been fetched yet.
  bool has_place() const noexcept;
  // Ends the connection at once.
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
  void note_refusal(const HttpAnswer& answer) const noexcept;
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
  std::size_t held_ = 0;              // at the front of the buffer: bytes that were received and not yet parsed
  std::size_t requests_ = 0;          // that have begun
  std::unique_ptr<Request> request_;  // the current one; null between two requests
  std::string answer_;                // the answer that is being sent
  bool goes_on_ = false;              // another request may follow that answer
  unsigned status_ = 0;               // of that answer
  bool has_unread_body_ = false;      // a part of the body is unread after that answer
};

}  // namespace bloomgate
