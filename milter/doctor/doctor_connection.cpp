#include "milter/doctor/doctor_connection.hpp"

#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace bloomgate {
namespace {

constexpr timeval kMilterPatience{5, 0};

DoctorConnection connected(int family, const sockaddr* name, socklen_t name_bytes) {
  DoctorConnection made{FileDescriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  // If a listener no longer accepts connections, a client waits once its queue is full (unix(7)).
  setsockopt(made.descriptor.get(), SOL_SOCKET, SO_SNDTIMEO, &kMilterPatience, sizeof kMilterPatience);
  setsockopt(made.descriptor.get(), SOL_SOCKET, SO_RCVTIMEO, &kMilterPatience, sizeof kMilterPatience);
  if (connect(made.descriptor.get(), name, name_bytes) == 0) return made;
  made.error = errno;
  made.descriptor.reset();
  return made;
}

bool sends(const DoctorConnection& connection, std::string_view bytes) {
  const auto sent = send(connection.descriptor.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(bytes.size());
}

std::string receive(const DoctorConnection& connection, std::size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t got = recv(connection.descriptor.get(), text.data(), text.size(), MSG_WAITALL);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

DoctorConnection connect_to(const SocketAddress& address) {
  if (address.family == SocketAddress::Family::unix_path) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    if (address.path.size() >= sizeof name.sun_path) return {FileDescriptor(), ENAMETOOLONG};
    std::memcpy(name.sun_path, address.path.data(), address.path.size());
    return connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);
  DoctorConnection made;
  // `localhost` has two addresses, and servers often listen on only one.
  for (const addrinfo* each = found; each != nullptr && !made.is_open(); each = each->ai_next) {
    made = connected(each->ai_family, each->ai_addr, each->ai_addrlen);
  }
  return made;
}

std::optional<std::string> listening_user(const DoctorConnection& connection) {
  ucred listener = {};
  socklen_t bytes = sizeof listener;
  if (getsockopt(connection.descriptor.get(), SOL_SOCKET, SO_PEERCRED, &listener, &bytes) != 0 || listener.pid == 0) {
    return std::nullopt;
  }
  const passwd* const user = getpwuid(listener.uid);
  return user == nullptr ? std::nullopt : std::optional<std::string>(user->pw_name);
}

bool answers_as_milter(const DoctorConnection& connection) {
  // Everything that a mail server can offer, in the first packet (SMFIC_OPTNEG).
  constexpr std::string_view kOffer("\0\0\0\x0dO\0\0\0\x06\0\0\x01\xff\0\x1f\xff\xff", 17);
  if (!sends(connection, kOffer)) return false;
  const std::string reply = receive(connection, 5);
  return reply.size() == 5 && reply[4] == 'O';
}

bool greets_with(const DoctorConnection& connection, std::string_view words) {
  return receive(connection, words.size()) == words;
}

bool answers_as_clamd(const DoctorConnection& connection) {
  return sends(connection, std::string_view("zPING\0", 6)) && receive(connection, 4) == "PONG";
}

std::optional<SocketAddress> postfix_milter_address(std::string_view text, const std::string& queue_folder) {
  if (text.starts_with("unix:") || text.starts_with("local:")) {
    const std::string path(text.substr(text.find(':') + 1));
    return parse_socket_address("unix:" + (path.starts_with('/') ? path : queue_folder + "/" + path));
  }
  if (!text.starts_with("inet")) return std::nullopt;
  return next_hop_address(text.substr(text.find(':') + 1));
}

std::optional<SocketAddress> next_hop_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.substr(colon).find(']') != std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.starts_with("ipv6:")) host.remove_prefix(5);
  return parse_socket_address("inet:" + std::string(text.substr(colon + 1)) + "@" + std::string(host));
}

}  // namespace bloomgate
