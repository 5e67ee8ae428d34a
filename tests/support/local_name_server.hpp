// A name server on a port of its own, which answers, fails or hangs as the test says.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate::test {

// Each name has the TXT record that `text` says, but for names of `hanging.example`, to which no answer comes, and
// names of `missing.example` and of one label, which do not exist. No answer comes to an invalid question.
class LocalNameServer {
 public:
  enum class Mode { answers, fails, hangs };

  explicit LocalNameServer(std::string text = "found", std::uint16_t port = 0)
      : text_(std::move(text)), socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address_.sin_port = htons(port);
    socklen_t size = sizeof address_;
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    if (bind(socket_.get(), address, size) != 0 || getsockname(socket_.get(), address, &size) != 0) {
      throw std::runtime_error("no port for a name server");
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~LocalNameServer() {
    // An empty question ends it.
    static_cast<void>(sendto(socket_.get(), "", 0, 0, reinterpret_cast<sockaddr*>(&address_), sizeof address_));
    thread_.join();
  }
  LocalNameServer(const LocalNameServer&) = delete;
  LocalNameServer& operator=(const LocalNameServer&) = delete;

  void set(Mode mode) noexcept { mode_ = mode; }
  std::uint16_t port() const noexcept { return ntohs(address_.sin_port); }
  std::string address() const { return "127.0.0.1@" + std::to_string(port()); }
  int questions() const noexcept { return questions_; }

 private:
  static constexpr std::size_t kHeaderBytes = 12;  // RFC 1035, section 4.1.1

  void serve() {
    std::array<char, 4096> message;
    while (true) {
      sockaddr_in asker = {};
      socklen_t size = sizeof asker;
      auto* const to = reinterpret_cast<sockaddr*>(&asker);
      const ssize_t bytes = recvfrom(socket_.get(), message.data(), message.size(), 0, to, &size);
      if (bytes <= 0) return;
      ++questions_;
      const std::string reply = reply_to({message.data(), static_cast<std::size_t>(bytes)});
      if (!reply.empty()) static_cast<void>(sendto(socket_.get(), reply.data(), reply.size(), 0, to, size));
    }
  }

  std::string reply_to(const std::string& question) const {
    std::string name;
    std::size_t at = kHeaderBytes;
    while (at < question.size() && question[at] != '\0') {
      const auto length = static_cast<std::size_t>(question[at]);
      name += question.substr(at + 1, length) + ".";
      at += length + 1;
    }
    const Mode mode = mode_;
    const bool is_whole = at + 5 <= question.size();
    if (!is_whole || mode == Mode::hangs || name.ends_with("hanging.example.")) return {};
    constexpr char kServerFailure = 2, kNoSuchName = 3;
    const bool is_missing = name.ends_with("missing.example.") || name.find('.') == name.size() - 1;
    const char rcode = mode == Mode::fails ? kServerFailure : is_missing ? kNoSuchName : '\0';
    std::string reply = question.substr(0, at + 5);  // with its type and class
    reply[2] = '\x81';
    reply[3] = static_cast<char>('\x80' | rcode);
    reply[7] = rcode == '\0' ? '\1' : '\0';
    reply[11] = '\0';  // without the question's EDNS
    if (rcode != '\0') return reply;
    reply += std::string("\xc0\x0c\0\x10\0\1\0\0\0\x3c\0", 11);
    reply += static_cast<char>(text_.size() + 1);
    reply += static_cast<char>(text_.size());
    return reply + text_;
  }

  const std::string text_;
  FileDescriptor socket_;
  sockaddr_in address_ = {};
  std::atomic<Mode> mode_ = Mode::answers;
  std::atomic<int> questions_ = 0;
  std::thread thread_;
};

}  // namespace bloomgate::test
