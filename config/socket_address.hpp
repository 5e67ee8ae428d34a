// Where a milter listens, as operators of Postfix and Sendmail write it. A plain value;
// milter/glue/listening_socket.hpp makes the socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bloomgate {

struct SocketAddress {
  enum class Family { unix_path, inet, inet6 };

  Family family = Family::unix_path;
  std::string path;  // unix_path only
  std::string host;  // inet and inet6: a name or a number, without brackets
  std::string port;  // inet and inet6: decimal, 1 to 65535

  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

// What parse_socket_address() accepts, for messages.
inline constexpr std::string_view kSocketAddressForms = "unix:PATH, local:PATH, inet:PORT@HOST or inet6:PORT@HOST";

// Accepts the forms of libmilter, but a host is required: listening on every address of a machine should be a
// deliberate choice (`inet:8891@0.0.0.0`). A path has at most 107 bytes (unix(7)). Returns nothing for any other text.
std::optional<SocketAddress> parse_socket_address(std::string_view text);

// What parse_http_address() accepts, for messages.
inline constexpr std::string_view kHttpAddressForms = "HOST:PORT, [IPV6]:PORT, or the absolute path of a unix socket";

// Accepts the forms in which addresses of web servers are written. As above, a host is required. Returns nothing for
// any other text.
std::optional<SocketAddress> parse_http_address(std::string_view text);

// The address in the form from which it was parsed, but `local:` becomes `unix:`.
std::string to_string(const SocketAddress& address);

}  // namespace bloomgate
