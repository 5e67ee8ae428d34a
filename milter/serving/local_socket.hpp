// Who can reach a socket of ours, and whom a request by HTTP was meant for. Safe from any thread.
#pragma once

#include <string_view>

namespace bloomgate {

// Whether only programs of this machine can reach the socket that listens on `descriptor`: a unix socket, 127.0.0.0/8,
// ::1.
bool is_local_socket(int descriptor) noexcept;

// Whether that value of a field Host can come from somebody who meant this machine: it is an IP address, or localhost.
// A web page from elsewhere may let a name of its own point to 127.0.0.1, and then have the browser of somebody who
// works on this machine read what is here (DNS rebinding); its Host is that name.
bool names_this_machine(std::string_view host) noexcept;

}  // namespace bloomgate
