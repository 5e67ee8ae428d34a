// A connection to a server that talks neither HTTP nor TLS, through a port or a unix socket. Nothing that the server
// does or leaves undone makes a call last beyond the deadline. Used by the clients; by one thread.
#pragma once

#include <string>
#include <string_view>

#include "config/socket_address.hpp"
#include "milter/deep_check/checker_error.hpp"
#include "milter/deep_check/curl_handle.hpp"

namespace bloomgate {

class PlainConnection {
 public:
  // Throws CheckerError; std::bad_alloc.
  PlainConnection(const SocketAddress& address, Deadline deadline);

  // False where the server wants no more: it may have said why. Throws CheckerError.
  bool send(std::string_view bytes);

  // We have nothing more to say. What the server says until it closes the connection; throws CheckerError where that is
  // more than `max_bytes`.
  std::string receive_all(std::size_t max_bytes);

 private:
  void wait_for(short events);

  CurlHandle curl_;
  Deadline deadline_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
};

}  // namespace bloomgate
