#include "milter/serving/local_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include "config/ip_network.hpp"
#include "filter/base/ascii.hpp"

namespace bloomgate {

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
  const bool is_local = ascii::equal_ignoring_case(host, kLocal);
  return host.empty() || is_local || parse_ip_address(host).has_value();
}

}  // namespace bloomgate
