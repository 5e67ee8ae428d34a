// IP addresses and networks, as an operator writes them and as a socket reports them. Plain values; pure; safe from any
// thread.
//
// All are 128 bits wide: an IPv4 address is stored as its IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2). So a
// client that connects through an IPv6 socket as `::ffff:192.0.2.1` is the same as `192.0.2.1`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace bloomgate {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes = {};

  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// Reads `192.0.2.1`, `2001:db8::1` or `::ffff:192.0.2.1`. As mail servers write them, addresses in `[…]` or after
// `IPv6:` are accepted, too. Returns nothing for any other text.
std::optional<IpAddress> parse_ip_address(std::string_view text);

// The address in a client's socket address. Nothing for a null pointer and for families other than IPv4 and IPv6.
std::optional<IpAddress> ip_address_of(const sockaddr* address) noexcept;

bool is_ipv4(const IpAddress& address) noexcept;

// In the usual notation; an IPv4 address in dotted form.
std::string to_string(const IpAddress& address);

struct IpNetwork {
  IpAddress address;               // no bit is set after the prefix
  std::uint8_t prefix_bits = 128;  // the length of the prefix, of 128 bits

  bool contains(const IpAddress& other) const noexcept;

  friend bool operator==(const IpNetwork&, const IpNetwork&) = default;
};

// What parse_ip_network() accepts, for messages.
inline constexpr std::string_view kIpNetworkForms = "an address or a network such as 192.0.2.0/24 or 2001:db8::/32";

// CIDR notation (RFC 4632 section 3.1); an address without a prefix length is that one host. An address with a bit set
// after its prefix (`192.0.2.1/24`) is refused: it is more likely a mistake than a network. Nothing for anything else.
std::optional<IpNetwork> parse_ip_network(std::string_view text);

}  // namespace bloomgate
