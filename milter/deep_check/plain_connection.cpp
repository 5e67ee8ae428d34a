#include "milter/deep_check/plain_connection.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

namespace bloomgate {
namespace {

[[noreturn]] void fail(const char* deed, int error) {
  throw CheckerError(fmt::format("{}: {}", deed, std::generic_category().message(error)));
}

std::string url_of(const SocketAddress& address) {
  if (address.family == SocketAddress::Family::unix_path) return "http://localhost";
  const bool is_number = address.host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}", is_number ? "[" + address.host + "]" : address.host, address.port);
}

}  // namespace

PlainConnection::PlainConnection(const SocketAddress& address, Deadline deadline) : deadline_(deadline) {
  curl_.set(CURLOPT_URL, url_of(address).c_str());
  curl_.set_address(address);
  curl_.set(CURLOPT_CONNECT_ONLY, 1L);
  curl_.perform(deadline);
  curl_easy_getinfo(curl_.get(), CURLINFO_ACTIVESOCKET, &socket_);
  if (socket_ == CURL_SOCKET_BAD) throw CheckerError("libcurl has lost the connection");
}

bool PlainConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    wait_for(POLLOUT);
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return false;
    } else if (errno != EAGAIN && errno != EINTR) {
      fail("send", errno);
    }
  }
  return true;
}

std::string PlainConnection::receive_all(std::size_t max_bytes) {
  shutdown(socket_, SHUT_WR);
  std::string received;
  std::array<char, 4096> buffer;
  for (;;) {
    wait_for(POLLIN);
    const ssize_t count = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count == 0) return received;
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
      // The server may reset the connection after it has said why it accepts no more.
      if (errno == ECONNRESET && !received.empty()) return received;
      fail("receive", errno);
    }
    if (count < 0) continue;
    received.append(buffer.data(), static_cast<std::size_t>(count));
    if (received.size() > max_bytes) throw CheckerError(fmt::format("its answer is longer than {} bytes", max_bytes));
  }
}

void PlainConnection::wait_for(short events) {
  pollfd waited{socket_, events, 0};
  const int timeout = static_cast<int>(std::min(milliseconds_until(deadline_), long{INT_MAX}));
  if (poll(&waited, 1, timeout) < 0 && errno != EINTR) fail("wait", errno);
}

}  // namespace bloomgate
