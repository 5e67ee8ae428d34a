// The address of a name server, as an operator writes it in dns-servers, and as /etc/resolv.conf has it. Only this file
// defines which forms are accepted: the check of the configuration and the resolver both call it. A plain value; pure;
// safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/ip_network.hpp"

namespace bloomgate {

struct NameServer {
  IpAddress address = {};
  std::string scope = {};  // the network device of a link-local address: `eth0`, or its number; empty: none
  std::uint16_t port = 53;

  friend bool operator==(const NameServer&, const NameServer&) = default;
};

// What parse_name_server() accepts, for messages.
inline constexpr std::string_view kNameServerForms =
    "addresses of name servers, such as 192.0.2.53, 2001:db8::53, fe80::53%eth0 or 127.0.0.1@5353";

// Reads ADDRESS[%DEVICE][@PORT]. A link-local address needs a device, and no other address may have one (RFC 4007
// section 11). The device need not exist. A name for TLS (`#name`) is refused, since Bloomgate does not use DNS over
// TLS. Returns nothing for any other text.
std::optional<NameServer> parse_name_server(std::string_view text);

// In the form above, with a port only if it is not 53. libunbound reads the same form.
std::string to_string(const NameServer& server);

}  // namespace bloomgate
