#include "config/socket_address.hpp"

#include <sys/un.h>

#include <charconv>

namespace bloomgate {
namespace {

constexpr std::size_t kMaxPathBytes = sizeof(sockaddr_un::sun_path) - 1;

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

std::optional<SocketAddress> parse_inet(SocketAddress::Family family, std::string_view rest) {
  const std::size_t at = rest.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view port = rest.substr(0, at);
  std::string_view host = rest.substr(at + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!is_port(port) || host.empty() || host.find_first_of("[]@ ") != std::string_view::npos) return std::nullopt;
  return SocketAddress{family, {}, std::string(host), std::string(port)};
}

}  // namespace

std::optional<SocketAddress> parse_socket_address(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  if (scheme == "inet") return parse_inet(SocketAddress::Family::inet, rest);
  if (scheme == "inet6") return parse_inet(SocketAddress::Family::inet6, rest);
  if (scheme != "unix" && scheme != "local") return std::nullopt;
  if (rest.empty() || rest.size() > kMaxPathBytes) return std::nullopt;
  return SocketAddress{SocketAddress::Family::unix_path, std::string(rest), {}, {}};
}

std::optional<SocketAddress> parse_http_address(std::string_view text) {
  if (text.starts_with('/')) {
    if (text.size() > kMaxPathBytes) return std::nullopt;
    return SocketAddress{SocketAddress::Family::unix_path, std::string(text), {}, {}};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !is_port(text.substr(colon + 1))) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  // A colon without brackets would belong to an IPv6 address, whose end would be ambiguous.
  if (host.empty() || host.find_first_of(is_bracketed ? "[]@/ " : "[]@/: ") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto family = is_bracketed ? SocketAddress::Family::inet6 : SocketAddress::Family::inet;
  return SocketAddress{family, {}, std::string(host), std::string(text.substr(colon + 1))};
}

std::string to_string(const SocketAddress& address) {
  switch (address.family) {
    case SocketAddress::Family::unix_path:
      break;
    case SocketAddress::Family::inet:
      return "inet:" + address.port + "@" + address.host;
    case SocketAddress::Family::inet6:
      return "inet6:" + address.port + "@" + address.host;
  }
  return "unix:" + address.path;
}

}  // namespace bloomgate
