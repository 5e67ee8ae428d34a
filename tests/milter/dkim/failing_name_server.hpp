// A name server that fails.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate::test {

// Answers every question with SERVFAIL, at once: who asks a port without a server waits for ten seconds.
class FailingNameServer {
 public:
  FailingNameServer() : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    if (bind(socket_.get(), address, size) != 0 || getsockname(socket_.get(), address, &size) != 0) {
      throw std::runtime_error("no port for a name server");
    }
    thread_ = std::thread([this] { answer(); });
  }
  ~FailingNameServer() {
    // An empty question ends it.
    static_cast<void>(sendto(socket_.get(), "", 0, 0, reinterpret_cast<sockaddr*>(&address_), sizeof address_));
    thread_.join();
  }
  FailingNameServer(const FailingNameServer&) = delete;
  FailingNameServer& operator=(const FailingNameServer&) = delete;

  // As in the option dns-servers.
  std::string address() const { return "127.0.0.1@" + std::to_string(ntohs(address_.sin_port)); }

 private:
  void answer() const {
    constexpr std::size_t kHeaderBytes = 12;  // RFC 1035, section 4.1.1
    constexpr unsigned char kIsAnswer = 0x80, kServerFailure = 2;
    std::array<unsigned char, 4096> message;
    while (true) {
      sockaddr_in asker = {};
      socklen_t size = sizeof asker;
      auto* const to = reinterpret_cast<sockaddr*>(&asker);
      const ssize_t bytes = recvfrom(socket_.get(), message.data(), message.size(), 0, to, &size);
      if (bytes <= 0) return;
      if (bytes < static_cast<ssize_t>(kHeaderBytes)) continue;
      message[2] |= kIsAnswer;
      message[3] = kServerFailure;
      static_cast<void>(sendto(socket_.get(), message.data(), static_cast<std::size_t>(bytes), 0, to, size));
    }
  }

  FileDescriptor socket_;
  sockaddr_in address_ = {};
  std::thread thread_;
};

}  // namespace bloomgate::test
