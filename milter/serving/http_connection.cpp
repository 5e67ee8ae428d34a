#include "milter/serving/http_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "milter/serving/local_socket.hpp"

namespace bloomgate {
namespace {

namespace http = boost::beast::http;

// The pages have no external part and no script, so injected content could not run.
constexpr const char* kFieldsOfAll =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n";

constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::chrono::milliseconds kUntilThereIsMemory{10};

bool is_read(http::verb method) {
  return method == http::verb::get || method == http::verb::head;
}

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

struct HttpConnection::Request {
  http::request_parser<http::string_body> parser;
  HttpAdmission admission;
  bool has_outcome = false;  // an answer exists, or another thread is making it
};

// What the other thread holds of the connection: the connection must be destroyed in the thread of its loop.
struct HttpConnection::Later {
  std::shared_ptr<HttpConnection> connection;
  HttpAnswer answer;
};

HttpAnswer http_refusal(unsigned status, std::string why) {
  return {.status = status, .body = std::move(why) + "\n"};
}

std::optional<HttpAnswer> foreign_host_refusal(const HttpRequest& request, bool is_local) {
  if (!is_local || names_this_machine(request.host)) return std::nullopt;
  return http_refusal(421, "ask this address by number, or as localhost");
}

HttpConnection::HttpConnection(ClientStream stream, const HttpLimits& limits, const Handlers& handlers,
                               std::shared_ptr<void> place, std::function<void()> on_request, std::string_view read)
    : limits_(limits),
      handlers_(handlers),
      place_(std::move(place)),
      on_request_(std::move(on_request)),
      stream_(std::move(stream)),
      buffer_(2 * limits.header_bytes),
      held_(read.copy(buffer_.data(), buffer_.size())) {}

HttpConnection::~HttpConnection() {
  if (has_place() && !request_->has_outcome) note_refusal({.status = 0, .content_type = std::string()});
}

bool HttpConnection::has_place() const noexcept {
  return request_ && request_->admission.place != nullptr;
}

void HttpConnection::begin() {
  ++requests_;
  if (on_request_) on_request_();
  request_ = std::make_unique<Request>();
  request_->parser.header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  // take_header() checks the length. Boost 1.74 reads boost::none as a limit of zero.
  request_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  stream_.expire_after(limits_.request);
  parse();
}

// There is always room: a header longer than header_bytes is refused, and the received part of a body is parsed at
// once.
void HttpConnection::read() {
  const auto room = std::span(buffer_).subspan(held_, std::min(buffer_.size() - held_, limits_.header_bytes));
  stream_.read_some(room, [self = shared_from_this()](std::size_t count) {
    self->held_ += count;
    if (!self->request_) return self->begin();
    self->parse();
  });
}

// Parses the header, and then, if take_header() requires it, the body.
void HttpConnection::parse() {
  auto& parser = request_->parser;
  boost::system::error_code fault;
  const std::size_t parsed = parser.put(boost::asio::buffer(buffer_.data(), held_), fault);
  std::copy(buffer_.data() + parsed, buffer_.data() + held_, buffer_.data());
  held_ -= parsed;
  if (fault == http::error::header_limit) return send(http_refusal(431, "the header of the request is too long"));
  if (fault && fault != http::error::need_more) {
    return send(http_refusal(400, "this is no request that can be answered"));
  }
  if (!parser.is_header_done()) return read();
  if (!parser.eager()) return take_header();
  if (!parser.is_done()) return read();
  answer_post();
}

void HttpConnection::take_header() {
  auto& parser = request_->parser;
  const http::verb method = parser.get().method();
  const bool may_post = limits_.body_bytes != 0;
  if (!is_read(method) && !(may_post && method == http::verb::post)) {
    return send(http_refusal(
        405, may_post ? "only GET, HEAD and POST are answered here" : "only GET and HEAD are answered here"));
  }
  const bool has_body = parser.chunked() || parser.content_length().value_or(0) != 0;
  if (is_read(method)) {
    const bool with_body = method != http::verb::head;
    return send(has_body ? http_refusal(400, "a request must not have a body here") : answer_of(false), with_body);
  }
  if (parser.chunked() || !parser.content_length()) {
    return send(http_refusal(411, "the length of a body must be in the header, as Content-Length"));
  }
  if (!handlers_.admit) return take_body(limits_.body_bytes);
  HttpAdmission& admission = request_->admission;
  try {
    HttpRequest request = asked();
    for (const auto& field : parser.get()) {
      request.fields.emplace_back(view(field.name_string()), view(field.value()));
    }
    admission = handlers_.admit(request);
  } catch (const std::exception& error) {
    admission.refusal = failed(error);
  }
  if (admission.refusal) {
    has_unread_body_ = true;
    return send(*admission.refusal);
  }
  stream_.expire_after(admission.request);
  take_body(admission.body_bytes);
}

void HttpConnection::take_body(std::size_t most_bytes) {
  auto& parser = request_->parser;
  if (*parser.content_length() > most_bytes) {
    has_unread_body_ = true;
    return send(http_refusal(413, "a body has at most " + std::to_string(most_bytes) + " bytes here"));
  }
  parser.eager(true);
  if (parser.is_done()) return answer_post();  // an empty body
  const bool waits = held_ == 0 && boost::beast::iequals(parser.get()[http::field::expect], "100-continue");
  if (!waits) return parse();
  stream_.write(kGoOn, [self = shared_from_this()] { self->read(); });
}

void HttpConnection::answer_post() {
  if (request_->admission.answer_later) return answer_later();
  send(answer_of(true));
}

// Meanwhile the client has no deadline: it waits for us.
void HttpConnection::answer_later() {
  const auto later = std::make_shared<Later>(Later{.connection = shared_from_this(), .answer = {}});
  stream_.expire_never();
  try {
    request_->admission.answer_later(std::move(request_->parser.get().body()), [later](HttpAnswer answer) {
      later->answer = std::move(answer);
      give(later);
    });
    request_->has_outcome = true;
  } catch (const std::exception& error) {
    later->connection.reset();
    send(failed(error));
  }
}

// Called in the other thread. If there is no memory, it waits for some: the connection must not be destroyed here.
void HttpConnection::give(const std::shared_ptr<Later>& later) noexcept {
  ClientStream& stream = later->connection->stream_;
  for (;;) {
    try {
      return stream.post([later] {
        const std::shared_ptr<HttpConnection> connection = std::move(later->connection);
        connection->send(later->answer);
      });
    } catch (const std::exception&) {
      std::this_thread::sleep_for(kUntilThereIsMemory);
    }
  }
}

// A request whose line was not read has no target.
void HttpConnection::note_refusal(const HttpAnswer& answer) const noexcept {
  if (handlers_.on_refusal) handlers_.on_refusal(asked(), answer);
}

HttpRequest HttpConnection::asked() const {
  const auto& request = request_->parser.get();
  return {.target = view(request.target()), .host = view(request[http::field::host])};
}

HttpAnswer HttpConnection::answer_of(bool is_post) const {
  HttpRequest request = asked();
  if (is_post) request.posted = request_->parser.get().body();
  try {
    return handlers_.answer(request);
  } catch (const std::exception& error) {
    return failed(error);
  }
}

HttpAnswer HttpConnection::failed(const std::exception& error) const {
  handlers_.on_fault(std::string("a page could not be made: ") + error.what());
  return http_refusal(500, "the page could not be made; the daemon's log says why");
}

// A body that was not read, or whose end is uncertain, must not be read as the next request. So a connection ends after
// every request that was refused for its body, after any Transfer-Encoding, since Beast knows only "chunked", and after
// a request that may have a body and gives no length. Clients of HTTP/1.0 do not expect the connection to stay open.
bool HttpConnection::may_go_on() const {
  const auto& parser = request_->parser;
  if (requests_ >= limits_.requests || !parser.is_done() || !parser.keep_alive()) return false;
  const auto& request = parser.get();
  if (request.version() != 11 || request.count(http::field::transfer_encoding) != 0) return false;
  return is_read(request.method()) || parser.content_length().has_value();
}

// Without its body, the answer still has the length of the page (RFC 9110 section 9.3.2).
void HttpConnection::send(const HttpAnswer& answer, bool with_body) {
  status_ = answer.status;
  if (status_ >= 400 && !request_->has_outcome) note_refusal(answer);
  request_->has_outcome = true;
  goes_on_ = may_go_on();
  answer_ = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n{}Content-Length: {}\r\n", answer.status,
                        view(http::obsolete_reason(http::int_to_status(answer.status))), answer.content_type,
                        kFieldsOfAll, answer.body.size());
  if (!goes_on_) answer_ += "Connection: close\r\n";
  if (status_ == 401) answer_ += "WWW-Authenticate: Bearer\r\n";
  if (status_ == 503) answer_ += "Retry-After: 1\r\n";
  if (status_ == 405) answer_ += limits_.body_bytes == 0 ? "Allow: GET, HEAD\r\n" : "Allow: GET, HEAD, POST\r\n";
  answer_ += "\r\n";
  if (with_body) answer_ += answer.body;
  stream_.expire_after(limits_.answer);
  stream_.write(answer_, [self = shared_from_this()] { self->sent(); });
}

void HttpConnection::sent() {
  if (!goes_on_) {
    request_.reset();
    return end();
  }
  // No memory of a large answer is kept while the client is silent.
  answer_ = std::string();
  request_.reset();
  if (held_ != 0) return begin();
  stream_.expire_after(limits_.idle);
  read();
}

void HttpConnection::end() {
  stream_.end_writing();
  const bool is_last_of_many = limits_.requests > 1 && requests_ == limits_.requests;
  if (is_last_of_many || has_unread_body_) drain();
}

// If the connection were closed with unread bytes, the kernel would reset it. A client that is still sending its body,
// or its next request, might then lose the answer. The deadline of the answer still applies.
void HttpConnection::drain() {
  stream_.read_some(buffer_, [self = shared_from_this()](std::size_t) { self->drain(); });
}

}  // namespace bloomgate
