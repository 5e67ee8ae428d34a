// Connections from the doctor to programs that listen on this machine: the daemon, other milters, later stages, clamd.
// None of the functions waits longer than some seconds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/socket_address.hpp"
#include "filter/system/file_descriptor.hpp"

namespace bloomgate {

struct DoctorConnection {
  FileDescriptor descriptor = FileDescriptor();
  int error = 0;  // errno, if it is not open; 0 also if the host has no address

  bool is_open() const noexcept { return descriptor.is_open(); }
};

DoctorConnection connect_to(const SocketAddress& address);

// The user that runs the program at the other end of a unix socket; nothing for other sockets, or if that user has no
// name.
std::optional<std::string> listening_user(const DoctorConnection& connection);

// Whether the other end answers as a milter does.
bool answers_as_milter(const DoctorConnection& connection);

// Whether the other end begins to speak by itself, with these words ("220" for a mail server).
bool greets_with(const DoctorConnection& connection, std::string_view words);

// Whether the other end is clamd (PING, PONG).
bool answers_as_clamd(const DoctorConnection& connection);

// A milter address in Postfix's notation, `unix:PATH` or `inet:HOST:PORT`; relative paths begin in `queue_folder`.
// Nothing for any other text.
std::optional<SocketAddress> postfix_milter_address(std::string_view text, const std::string& queue_folder);

// The next hop of a transport, `[HOST]:PORT` or `HOST:PORT`; nothing for one without a port.
std::optional<SocketAddress> next_hop_address(std::string_view text);

}  // namespace bloomgate
