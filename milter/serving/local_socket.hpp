// Who can reach one of our sockets, and for which host an HTTP request was meant. Safe from any thread.
#pragma once

#include <string_view>

namespace bloomgate {

// Whether only programs of this machine can reach the socket that listens on `descriptor`: a unix socket, 127.0.0.0/8,
// ::1.
bool is_local_socket(int descriptor) noexcept;

// Whether that value of a Host field can come from a client that meant this machine: it is an IP address, or localhost.
// A foreign web page may point its own name to 127.0.0.1, and then let the browser of a user of this machine read our
// pages (DNS rebinding); the Host field is then that name.
bool names_this_machine(std::string_view host) noexcept;

}  // namespace bloomgate
