#include "milter/serving/http_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <exception>
#include <limits>
#include <utility>

#include "milter/serving/local_socket.hpp"

namespace bloomgate {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Fault = boost::system::error_code;

// The pages have no outside part and no script, so nothing that gets into one in spite of all could do anything.
constexpr const char* kContentPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

using Response = http::response<http::string_body>;

Response response_of(HttpAnswer answer, bool with_body) {
  Response response(static_cast<http::status>(answer.status), 11);
  response.set(http::field::content_type, answer.content_type);
  response.set(http::field::cache_control, "no-store");
  response.set("Content-Security-Policy", kContentPolicy);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.content_length(answer.body.size());
  if (with_body) response.body() = std::move(answer.body);
  return response;
}

bool is_read(http::verb method) {
  return method == http::verb::get || method == http::verb::head;
}

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

HttpAnswer http_refusal(unsigned status, std::string why) {
  return {.status = status, .body = std::move(why) + "\n"};
}

std::optional<HttpAnswer> foreign_host_refusal(const HttpRequest& request, bool is_local) {
  if (!is_local || names_this_machine(request.host)) return std::nullopt;
  return http_refusal(421, "ask this address by number, or as localhost");
}

HttpConnection::HttpConnection(SocketLoop::Socket socket, const HttpLimits& limits, const Handlers& handlers,
                               std::shared_ptr<void> place, std::function<void()> on_request, std::string_view read)
    : limits_(limits),
      handlers_(handlers),
      place_(std::move(place)),
      on_request_(std::move(on_request)),
      stream_(std::move(socket)),
      buffer_(2 * limits.header_bytes) {
  buffer_.commit(asio::buffer_copy(buffer_.prepare(read.size()), asio::buffer(read.data(), read.size())));
}

void HttpConnection::begin() {
  ++requests_;
  if (on_request_) on_request_();
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.header_bytes));
  // take_header() looks at the length. Boost 1.74 takes boost::none for a limit of nothing.
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
  stream_.expires_after(limits_.request);
  http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](const Fault& fault, std::size_t) {
    if (!self->refuse(fault)) self->take_header();
  });
}

// Whether that is the end of it: the client is gone, or told what is wrong.
bool HttpConnection::refuse(const Fault& fault) {
  if (!fault) return false;
  const bool is_ours = fault.category() == http::make_error_code(http::error::bad_method).category();
  if (!is_ours || fault == http::error::end_of_stream || fault == http::error::partial_message) return true;
  if (fault == http::error::header_limit || fault == http::error::buffer_overflow) {
    send(http_refusal(431, "the header of the request is too long"));
  } else {
    send(http_refusal(400, "this is no request that can be answered"));
  }
  return true;
}

void HttpConnection::take_header() {
  const http::verb method = parser_->get().method();
  const bool may_post = limits_.body_bytes != 0;
  if (!is_read(method) && !(may_post && method == http::verb::post)) {
    return send(http_refusal(
        405, may_post ? "only GET, HEAD and POST are answered here" : "only GET and HEAD are answered here"));
  }
  const bool has_body = parser_->chunked() || parser_->content_length().value_or(0) != 0;
  if (is_read(method)) {
    const bool with_body = method != http::verb::head;
    return send(has_body ? http_refusal(400, "a request must not have a body here") : answer_of(false), with_body);
  }
  if (parser_->chunked() || !parser_->content_length()) {
    return send(http_refusal(411, "the length of a body must be in the header, as Content-Length"));
  }
  if (*parser_->content_length() > limits_.body_bytes) {
    return send(http_refusal(413, "a body has at most " + std::to_string(limits_.body_bytes) + " bytes here"));
  }
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](const Fault& fault, std::size_t) {
    if (!self->refuse(fault)) self->send(self->answer_of(true));
  });
}

HttpAnswer HttpConnection::answer_of(bool is_post) const {
  const auto& request = parser_->get();
  HttpRequest asked = {.target = view(request.target()), .host = view(request[http::field::host])};
  if (is_post) asked.posted = request.body();
  try {
    return handlers_.answer(asked);
  } catch (const std::exception& error) {
    handlers_.on_fault(std::string("a page could not be made: ") + error.what());
    return http_refusal(500, "the page could not be made; the daemon's log says why");
  }
}

// A body that was not read, or whose end is not certain, must not be taken for the next request: so a connection ends
// behind all that is refused for its body, behind any Transfer-Encoding, since Beast knows "chunked" alone, and behind
// what may have a body and tells no length. Clients of HTTP/1.0 do not expect it to go on.
bool HttpConnection::may_go_on() const {
  if (requests_ >= limits_.requests || !parser_->is_done() || !parser_->keep_alive()) return false;
  const auto& request = parser_->get();
  if (request.version() != 11 || request.count(http::field::transfer_encoding) != 0) return false;
  return is_read(request.method()) || parser_->content_length().has_value();
}

void HttpConnection::send(HttpAnswer answer, bool with_body) {
  response_ = response_of(std::move(answer), with_body);
  if (!may_go_on()) response_->set(http::field::connection, "close");
  if (response_->result_int() == 405)
    response_->set(http::field::allow, limits_.body_bytes == 0 ? "GET, HEAD" : "GET, HEAD, POST");
  // Without its body the length is still that of the page (RFC 9110 section 9.3.2).
  serializer_.emplace(*response_);
  if (!with_body) serializer_->split(true);
  stream_.expires_after(limits_.answer);
  const auto done = [self = shared_from_this()](const Fault& fault, std::size_t) { self->sent(fault); };
  if (with_body) {
    http::async_write(stream_, *serializer_, done);
  } else {
    http::async_write_header(stream_, *serializer_, done);
  }
}

void HttpConnection::sent(const Fault& fault) {
  if (fault) return;
  if (!response_->keep_alive()) return end();
  // Nothing of a large one is kept while the client is silent.
  serializer_.reset();
  response_.reset();
  parser_.reset();
  if (buffer_.size() != 0) return begin();
  await_next();
}

void HttpConnection::await_next() {
  stream_.expires_after(limits_.idle);
  stream_.async_read_some(buffer_.prepare(limits_.header_bytes),
                          [self = shared_from_this()](const Fault& fault, std::size_t count) {
                            if (fault) return;
                            self->buffer_.commit(count);
                            self->begin();
                          });
}

void HttpConnection::end() {
  Fault ignored;
  stream_.socket().shutdown(SocketLoop::Socket::shutdown_send, ignored);
  const bool is_last_of_many = limits_.requests > 1 && requests_ == limits_.requests;
  if (is_last_of_many || response_->result() == http::status::payload_too_large) drain();
}

// Closed on bytes that nobody has read, the kernel would reset the connection, and a client that still sends its body,
// or its next request, might lose the answer. The deadline of the answer goes on.
void HttpConnection::drain() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(limits_.header_bytes),
                          [self = shared_from_this()](const Fault& fault, std::size_t) {
                            if (!fault) self->drain();
                          });
}

}  // namespace bloomgate
