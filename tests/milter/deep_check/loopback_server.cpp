#include "tests/milter/deep_check/loopback_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <regex>
#include <stdexcept>

#include "tests/support/stream_sockets.hpp"

namespace bloomgate::test {
namespace {

FileDescriptor listen_on(const sockaddr* address, socklen_t size) {
  FileDescriptor listener(socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(listener.get(), address, size) != 0 || listen(listener.get(), 100) != 0) throw std::runtime_error("listen");
  return listener;
}

std::size_t content_length(const std::string& header) {
  static const std::regex field("content-length: *([0-9]+)", std::regex::icase);
  std::smatch found;
  return std::regex_search(header, found, field) ? std::stoul(found[1]) : 0;
}

}  // namespace

LoopbackServer::LoopbackServer(Answer answer) : answer_(std::move(answer)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener_ = listen_on(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  socklen_t size = sizeof address;
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  address_ = {SocketAddress::Family::inet, {}, "127.0.0.1", std::to_string(ntohs(address.sin_port))};
  acceptor_ = std::thread([this] { accept_all(); });
}

LoopbackServer::LoopbackServer(Answer answer, const std::string& path) : answer_(std::move(answer)) {
  const sockaddr_un address = path_address(path);
  listener_ = listen_on(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  address_ = {SocketAddress::Family::unix_path, path, {}, {}};
  acceptor_ = std::thread([this] { accept_all(); });
}

LoopbackServer::LoopbackServer(Answer answer, OverIpv6) : answer_(std::move(answer)) {
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  listener_ = listen_on(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  socklen_t size = sizeof address;
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  address_ = {SocketAddress::Family::inet6, {}, "::1", std::to_string(ntohs(address.sin6_port))};
  acceptor_ = std::thread([this] { accept_all(); });
}

bool LoopbackServer::has_ipv6() {
  const FileDescriptor any(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  return any.is_open() && bind(any.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

LoopbackServer::~LoopbackServer() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const int socket : open_) shutdown(socket, SHUT_RDWR);
  }
  changed_.notify_all();
  shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (std::thread& client : clients_) client.join();
}

void LoopbackServer::accept_all() {
  for (;;) {
    const int socket = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    if (stopped_) {
      close(socket);
      return;
    }
    ++connections_;
    open_.push_back(socket);
    clients_.emplace_back([this, socket] { serve(socket); });
  }
}

void LoopbackServer::serve(int socket) {
  Client client(*this, socket);
  answer_(client);
  const std::lock_guard lock(mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), socket));
  close(socket);
}

DeepCheckServer LoopbackServer::rspamd() const {
  if (address_.family == SocketAddress::Family::unix_path) return {DeepCheckServer::Kind::rspamd, {}, address_};
  const bool is_ipv6 = address_.family == SocketAddress::Family::inet6;
  const std::string host = is_ipv6 ? "[" + address_.host + "]" : address_.host;
  return {DeepCheckServer::Kind::rspamd, fmt::format("http://{}:{}", host, address_.port), {}};
}

DeepCheckServer LoopbackServer::spamd() const {
  return {DeepCheckServer::Kind::spamd, {}, address_};
}

std::string LoopbackServer::Client::request() {
  std::string received;
  std::array<char, 65536> buffer;
  for (;;) {
    const std::size_t header_end = received.find("\r\n\r\n");
    if (header_end != std::string::npos &&
        received.size() >= header_end + 4 + content_length(received.substr(0, header_end)))
      return received;
    const ssize_t count = recv(socket_, buffer.data(), buffer.size(), 0);
    if (count <= 0) return received;
    received.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string LoopbackServer::Client::line() {
  std::string received;
  for (char byte = '\0'; byte != '\n' && recv(socket_, &byte, 1, 0) == 1;) received += byte;
  return received;
}

void LoopbackServer::Client::await_bytes() {
  char first;
  recv(socket_, &first, 1, MSG_PEEK);
}

std::string LoopbackServer::Client::rest() {
  std::string received;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = recv(socket_, buffer.data(), buffer.size(), 0);
    if (count <= 0) return received;
    received.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

bool LoopbackServer::Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void LoopbackServer::Client::hang() {
  std::unique_lock lock(server_.mutex_);
  server_.changed_.wait(lock, [this] { return server_.stopped_.load(); });
}

std::string http_reply(std::string_view body, int status) {
  return fmt::format("HTTP/1.1 {} Whatever\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status, body.size(),
                     body);
}

std::string rspamd_says(std::string_view action, double score) {
  return http_reply(fmt::format(R"({{"score":{},"required_score":15,"action":"{}","symbols":{{}}}})", score, action));
}

std::string spamd_says(bool spam, double score) {
  return fmt::format("SPAMD/1.1 0 EX_OK\r\nContent-length: 5\r\nSpam: {} ; {} / 5.0\r\n\r\nA,B,C",
                     spam ? "True" : "False", score);
}

LoopbackServer::Answer answers(std::string reply) {
  return [reply = std::move(reply)](LoopbackServer::Client& client) {
    client.request();
    client.send(reply);
  };
}

LoopbackServer::Answer hangs() {
  return [](LoopbackServer::Client& client) { client.hang(); };
}

LoopbackServer::Answer replies(std::string text) {
  return [text = std::move(text)](LoopbackServer::Client& client) {
    client.await_bytes();
    client.send(text);
  };
}

LoopbackServer::Answer plays_milter() {
  return replies(std::string("\0\0\0\x0dO", 5));
}

}  // namespace bloomgate::test
