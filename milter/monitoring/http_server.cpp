#include "milter/monitoring/http_server.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "config/ip_network.hpp"
#include "filter/base/error.hpp"
#include "filter/base/held_signals.hpp"

namespace bloomgate {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Protocol = asio::generic::stream_protocol;
using Fault = boost::system::error_code;

constexpr std::chrono::milliseconds kAfterFault{1000};

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

int duplicate(int descriptor) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) return copy;
  throw BloomgateError(ErrorCode::no_system_resource,
                       "cannot duplicate the socket of the status page: " + std::generic_category().message(errno));
}

int family_of(int descriptor) noexcept {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof address;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes);
  return address.ss_family;
}

}  // namespace

// All of it runs in one thread, but for the constructor and the destructor, which run before and after it.
class HttpServer::Loop {
 public:
  Loop(int descriptor, Handlers handlers, const HttpLimits& limits)
      : handlers_(std::move(handlers)),
        limits_(limits),
        acceptor_(context_, Protocol(family_of(descriptor), 0), duplicate(descriptor)),
        pause_(context_),
        clock_(context_) {
    accept();
    if (handlers_.tick) wait_for_tick();
    const HeldSignals held;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      throw BloomgateError(ErrorCode::no_system_resource,
                           std::string("cannot start the thread of the status page: ") + error.what());
    }
  }

  ~Loop() {
    context_.stop();
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

 private:
  class Exchange;

  void run() noexcept {
    for (;;) {
      try {
        while (context_.run_one() != 0) {
          if (!is_accepting_ && open_ < limits_.connections) accept();
        }
        return;
      } catch (const std::exception& error) {
        // Out of memory, most likely. The connection that it was about is closed.
        report(error.what());
      }
    }
  }

  void report(const std::string& what) const noexcept {
    if (handlers_.on_fault) handlers_.on_fault(what);
  }

  void wait_for_tick() {
    clock_.expires_after(handlers_.interval);
    clock_.async_wait([this](const Fault& fault) {
      if (fault) return;
      wait_for_tick();
      handlers_.tick();
    });
  }

  void accept();

  const Handlers handlers_;
  const HttpLimits limits_;
  std::size_t open_ = 0;
  bool is_accepting_ = false;  // or pausing, to do so again
  asio::io_context context_{1};
  asio::basic_socket_acceptor<Protocol> acceptor_;
  asio::steady_timer pause_;
  asio::steady_timer clock_;
  std::thread thread_;
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
      loop_.report(std::string("a page could not be made: ") + error.what());
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

// run() takes up the next connection as soon as there is room for it, also after a handler that threw.
void HttpServer::Loop::accept() {
  acceptor_.async_accept([this](const Fault& fault, Protocol::socket socket) {
    if (!fault) {
      is_accepting_ = false;
      return std::make_shared<Exchange>(*this, std::move(socket))->begin();
    }
    // No descriptor is left, most likely. Others need them more, so this can wait.
    report("cannot take a connection: " + fault.message());
    pause_.expires_after(kAfterFault);
    pause_.async_wait([this](const Fault&) { is_accepting_ = false; });
  });
  is_accepting_ = true;
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
