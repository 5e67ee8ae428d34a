// Plays systemd: a socket that receives what sd_notify(3) sends, for as long as it lives.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/support/stream_sockets.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {

class NotifySocket {
 public:
  NotifySocket() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const std::string path = folder_.file("notify");
    const sockaddr_un address = path_address(path);
    if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("bind");
    const timeval patience = {.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~NotifySocket() {
    unsetenv("NOTIFY_SOCKET");
    close(socket_);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // The next message that was sent; empty where there is none.
  std::string next() const { return receive(MSG_DONTWAIT); }

  // The last of all that were sent and not taken yet; empty where there is none.
  std::string last() const {
    std::string text;
    for (std::string one = next(); !one.empty(); one = next()) text = one;
    return text;
  }

  // The next message, for which it waits. Throws where none comes in half a minute.
  std::string wait_for_next() const {
    std::string text = receive(0);
    if (text.empty()) throw std::runtime_error("nothing was said to systemd");
    return text;
  }

 private:
  std::string receive(int flags) const {
    char text[4096];
    const ssize_t size = recv(socket_, text, sizeof text, flags);
    return size < 0 ? std::string() : std::string(text, static_cast<std::size_t>(size));
  }

  TemporaryFolder folder_;
  int socket_;
};

}  // namespace bloomgate::test
