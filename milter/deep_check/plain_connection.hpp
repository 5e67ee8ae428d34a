// A connection to a server that speaks neither HTTP nor TLS, through a port or a unix socket. No call lasts beyond the
// deadline, whatever the server does. Used by the clients; for one thread.
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

  // Returns false if the server accepts no more data; it may have sent a reason. Throws CheckerError.
  bool send(std::string_view bytes);

  // Ends our side of the connection, and returns what the server sends until it closes the connection. Throws
  // CheckerError if that is more than `max_bytes`.
  std::string receive_all(std::size_t max_bytes);

 private:
  // Waits for these events, at most until the deadline; a call after the deadline throws.
  void wait_for(short events);

  CurlHandle curl_;
  Deadline deadline_;
  curl_socket_t socket_ = CURL_SOCKET_BAD;
};

}  // namespace bloomgate
