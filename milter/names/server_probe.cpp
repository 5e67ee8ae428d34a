#include "milter/names/server_probe.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "filter/system/file_descriptor.hpp"

namespace bloomgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint16_t kSoaType = 6, kTxtType = 16, kInternetClass = 1;
constexpr std::size_t kHeaderBytes = 12;  // RFC 1035, section 4.1.1
constexpr unsigned char kIsResponse = 0x80, kRcode = 0x0f, kServerFailure = 2;

void put16(std::string& out, std::uint16_t number) {
  out += static_cast<char>(number >> 8);
  out += static_cast<char>(number & 0xff);
}

// A question of a client that wants recursion (RFC 1035 section 4); empty if the name is no name.
std::string question(std::uint16_t id, std::string_view name, std::uint16_t type) {
  constexpr std::size_t kMostLabelBytes = 63, kMostNameBytes = 253;
  if (name.empty() || name.size() > kMostNameBytes) return {};
  std::string out;
  put16(out, id);
  constexpr std::uint16_t kRest[] = {0x0100, 1, 0, 0, 0};  // flags; questions, answers and so on
  for (const std::uint16_t number : kRest) put16(out, number);
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (label.empty() || label.size() > kMostLabelBytes) return {};
    out += static_cast<char>(label.size());
    out += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  out += '\0';
  put16(out, type);
  put16(out, kInternetClass);
  return out;
}

unsigned device_number(const std::string& scope) noexcept {
  unsigned number = 0;
  const char* const end = scope.data() + scope.size();
  if (std::from_chars(scope.data(), end, number).ptr == end) return number;
  return if_nametoindex(scope.c_str());
}

FileDescriptor connected(const NameServer& server) noexcept {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  if (is_ipv4(server.address)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    std::memcpy(&address.sin_addr, server.address.bytes.data() + 12, sizeof address.sin_addr);
    std::memcpy(&storage, &address, size = sizeof address);
  } else {
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(server.port);
    std::memcpy(&address.sin6_addr, server.address.bytes.data(), sizeof address.sin6_addr);
    if (!server.scope.empty()) address.sin6_scope_id = device_number(server.scope);
    std::memcpy(&storage, &address, size = sizeof address);
  }
  FileDescriptor socket_to(socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_to.is_open() && connect(socket_to.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    socket_to.reset();
  }
  return socket_to;
}

class Probe {
 public:
  Probe(const std::vector<NameServer>& servers, const std::string& name) {
    std::uint16_t id = 0;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
      id = static_cast<std::uint16_t>(Clock::now().time_since_epoch().count());
    id_ = id;
    questions_ = {question(id, "com", kSoaType), question(id, name, kTxtType)};
    for (const NameServer& server : servers) sockets_.push_back(connected(server));
  }

  void send() noexcept {
    for (FileDescriptor& each : sockets_) {
      for (const std::string& text : questions_) {
        if (each.is_open() && !text.empty() && ::send(each.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0 &&
            errno != EAGAIN) {
          each.reset();
        }
      }
    }
  }

  bool is_unreachable() const noexcept {
    return std::ranges::none_of(sockets_, [](const FileDescriptor& each) { return each.is_open(); });
  }

  // Whether an answer came by then.
  bool wait(Clock::time_point until, int stop) {
    while (!is_unreachable()) {
      std::vector<pollfd> ready = {{.fd = stop, .events = POLLIN, .revents = 0}};
      for (const FileDescriptor& each : sockets_) ready.push_back({.fd = each.get(), .events = POLLIN, .revents = 0});
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0 || poll(ready.data(), ready.size(), static_cast<int>(left)) <= 0 || ready[0].revents != 0)
        return false;
      for (std::size_t index = 0; index < sockets_.size(); ++index) {
        if (ready[index + 1].revents != 0 && reads_answer(sockets_[index])) return true;
      }
    }
    return false;
  }

 private:
  bool reads_answer(FileDescriptor& from) const noexcept {
    std::array<unsigned char, 4096> reply;
    const ssize_t size = recv(from.get(), reply.data(), reply.size(), 0);
    if (size < 0 && errno != EAGAIN && errno != EINTR) from.reset();  // ECONNREFUSED, EHOSTUNREACH
    return size >= static_cast<ssize_t>(kHeaderBytes) && (reply[0] << 8 | reply[1]) == id_ &&
           (reply[2] & kIsResponse) != 0 && (reply[3] & kRcode) != kServerFailure;
  }

  int id_ = 0;
  std::array<std::string, 2> questions_;
  std::vector<FileDescriptor> sockets_;
};

}  // namespace

ServersState probe_servers(const std::vector<NameServer>& servers, const std::string& name,
                           std::chrono::milliseconds patience, int stop) {
  Probe probe(servers, name);
  const Clock::time_point start = Clock::now();
  for (const Clock::time_point until : {start + patience / 2, start + patience}) {
    probe.send();
    if (probe.wait(until, stop)) return ServersState::answering;
  }
  return probe.is_unreachable() ? ServersState::unreachable : ServersState::silent;
}

}  // namespace bloomgate
