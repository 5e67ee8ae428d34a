#include "milter/monitoring/http_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "config/ip_network.hpp"
#include "milter/serving/socket_loop.hpp"

namespace bloomgate {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Protocol = SocketLoop::Protocol;
using Fault = boost::system::error_code;

// The pages have no outside part and no script, so nothing that gets into one in spite of all could do anything.
constexpr const char* kContentPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

using Response = http::response<http::string_body>;

Response response_of(HttpReply reply, unsigned version, bool with_body) {
  Response response(static_cast<http::status>(reply.status), version);
  response.set(http::field::content_type, reply.content_type);
  response.set(http::field::cache_control, "no-store");
  response.set(http::field::connection, "close");
  response.set("Content-Security-Policy", kContentPolicy);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  if (reply.status == 405) response.set(http::field::allow, "GET, HEAD");
  response.content_length(reply.body.size());
  if (with_body) response.body() = std::move(reply.body);
  return response;
}

HttpReply plain(unsigned status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n"};
}

std::optional<HttpReply> refusal_of(const http::request<http::empty_body>& request, bool has_body) {
  const bool is_read = request.method() == http::verb::get || request.method() == http::verb::head;
  if (!is_read) return plain(405, "only GET and HEAD are answered here");
  if (has_body) return plain(400, "a request must not have a body here");
  return std::nullopt;
}

}  // namespace

// All of it runs in the loop's thread, but for the constructor and the destructor, which run before and after it.
class HttpServer::Loop {
 public:
  Loop(int descriptor, Handlers handlers, const HttpLimits& limits)
      : handlers_(std::move(handlers)),
        limits_(limits),
        socket_(descriptor, "of the status page",
                {.has_room = [this] { return open_ < limits_.connections; },
                 .take = [this](Protocol::socket socket) { take(std::move(socket)); },
                 .on_fault = handlers_.on_fault}),
        clock_(socket_.context()) {
    if (handlers_.tick) wait_for_tick();
    socket_.start();
  }

  ~Loop() { socket_.stop(); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

 private:
  class Exchange;

  void wait_for_tick() {
    clock_.expires_after(handlers_.interval);
    clock_.async_wait([this](const Fault& fault) {
      if (fault) return;
      wait_for_tick();
      handlers_.tick();
    });
  }

  void take(Protocol::socket socket);

  const Handlers handlers_;
  const HttpLimits limits_;
  std::size_t open_ = 0;
  SocketLoop socket_;
  asio::steady_timer clock_;
};

// One connection: a request, an answer, the end. It lives as long as an operation of it is under way.
class HttpServer::Loop::Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(Loop& loop, Protocol::socket socket)
      : loop_(loop), stream_(std::move(socket)), buffer_(2 * loop.limits_.header_bytes) {
    ++loop_.open_;
    parser_.header_limit(static_cast<std::uint32_t>(loop.limits_.header_bytes));
  }
  ~Exchange() { --loop_.open_; }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void begin() {
    stream_.expires_after(loop_.limits_.request);
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](const Fault& fault, std::size_t) { self->answer(fault); });
  }

 private:
  void answer(const Fault& fault) {
    const bool is_ours = fault.category() == http::make_error_code(http::error::bad_method).category();
    if (fault && (!is_ours || fault == http::error::end_of_stream || fault == http::error::partial_message)) return;
    if (fault == http::error::header_limit || fault == http::error::buffer_overflow) {
      return send(plain(431, "the header of the request is too long"), true);
    }
    if (fault) return send(plain(400, "this is no request that can be answered"), true);
    const auto& request = parser_.get();
    const bool has_body = parser_.chunked() || parser_.content_length().value_or(0) != 0;
    const bool with_body = request.method() != http::verb::head;
    if (auto refusal = refusal_of(request, has_body)) return send(std::move(*refusal), with_body);
    send(page_of(request), with_body);
  }

  HttpReply page_of(const http::request<http::empty_body>& request) const {
    const auto view = [](beast::string_view text) { return std::string_view(text.data(), text.size()); };
    try {
      return loop_.handlers_.reply({view(request.target()), view(request[http::field::host])});
    } catch (const std::exception& error) {
      loop_.socket_.report(std::string("a page could not be made: ") + error.what());
      return plain(500, "the page could not be made; the daemon's log says why");
    }
  }

  void send(HttpReply reply, bool with_body) {
    response_ = response_of(std::move(reply), 11, with_body);
    // Without its body the length is still that of the page (RFC 9110 section 9.3.2).
    serializer_.emplace(*response_);
    if (!with_body) serializer_->split(true);
    stream_.expires_after(loop_.limits_.answer);
    const auto done = [self = shared_from_this()](const Fault& fault, std::size_t) { self->end(fault); };
    if (with_body) {
      http::async_write(stream_, *serializer_, done);
    } else {
      http::async_write_header(stream_, *serializer_, done);
    }
  }

  void end(const Fault& fault) {
    Fault ignored;
    if (!fault) stream_.socket().shutdown(Protocol::socket::shutdown_send, ignored);
  }

  Loop& loop_;
  beast::basic_stream<Protocol> stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  std::optional<Response> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
};

void HttpServer::Loop::take(Protocol::socket socket) {
  std::make_shared<Exchange>(*this, std::move(socket))->begin();
}

HttpServer::HttpServer(int descriptor, Handlers handlers, HttpLimits limits)
    : loop_(std::make_unique<Loop>(descriptor, std::move(handlers), limits)) {}

HttpServer::~HttpServer() = default;

bool is_local_socket(int descriptor) noexcept {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return false;
  if (address.ss_family == AF_UNIX) return true;
  if (address.ss_family == AF_INET) {
    const auto& inet = reinterpret_cast<const sockaddr_in&>(address);
    return (ntohl(inet.sin_addr.s_addr) >> 24) == 127;
  }
  if (address.ss_family != AF_INET6) return false;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
}

bool names_this_machine(std::string_view host) noexcept {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end != std::string_view::npos && parse_ip_address(host.substr(1, end - 1)).has_value();
  }
  host = host.substr(0, host.find(':'));
  constexpr std::string_view kLocal = "localhost";
  const bool is_local = std::ranges::equal(host, kLocal, {}, [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return host.empty() || is_local || parse_ip_address(host).has_value();
}

}  // namespace bloomgate
