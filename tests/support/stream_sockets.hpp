// Sockets for tests of our own servers: one that listens, and a client that sends bytes and takes what comes.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "filter/system/file_descriptor.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {

inline sockaddr_un path_address(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

template <typename Address>
FileDescriptor listen_on(const Address& address, int family) {
  FileDescriptor listener(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;  // an address need not be this machine's
  if (family == AF_INET) REQUIRE(setsockopt(listener.get(), IPPROTO_IP, IP_FREEBIND, &on, sizeof on) == 0);
  REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(listener.get(), SOMAXCONN) == 0);
  return listener;
}

inline FileDescriptor connect_to(const std::string& path) {
  FileDescriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = path_address(path);
  REQUIRE(connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return client;
}

inline void send_text(const FileDescriptor& client, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(client.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server has hung up, as some tests want it to
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// So many bytes, or less if the server hangs up or 20 s are over.
inline std::string receive(const FileDescriptor& client, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t held = 0;
  pollfd waiting = {client.get(), POLLIN, 0};
  while (held < bytes && poll(&waiting, 1, 20000) == 1) {
    const ssize_t count = recv(client.get(), text.data() + held, bytes - held, 0);
    if (count <= 0) break;
    held += static_cast<std::size_t>(count);
  }
  text.resize(held);
  return text;
}

// All that comes until the server hangs up, or 20 s are over.
inline std::string receive_all(const FileDescriptor& client) {
  std::string text;
  char buffer[65536];
  pollfd waiting = {client.get(), POLLIN, 0};
  while (poll(&waiting, 1, 20000) == 1) {
    const ssize_t count = recv(client.get(), buffer, sizeof buffer, 0);
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text + "(the server has not hung up)";
}

struct Trickled {
  std::string answer;
  std::chrono::steady_clock::duration lasted;
};

// What a server says to a client that sends `front` at once, and then the bytes of `rest` over and over, one each 20
// ms; and after which time it hangs up.
inline Trickled trickle(const FileDescriptor& client, std::string_view front, std::string_view rest) {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<bool> is_over = false;
  std::thread sender([&] {
    send_text(client, front);
    for (std::size_t i = 0; !is_over; ++i) {
      send_text(client, rest.substr(i % rest.size(), 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  std::string answer = receive_all(client);
  is_over = true;
  sender.join();
  return {std::move(answer), std::chrono::steady_clock::now() - start};
}

// The whole answer to one request on a connection of its own.
inline std::string answer_on(const FileDescriptor& client, std::string_view request) {
  send_text(client, request);
  return receive_all(client);
}

}  // namespace bloomgate::test
