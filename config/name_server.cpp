#include "config/name_server.hpp"

#include <net/if.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::uint16_t kDnsPort = 53;

bool is_link_local(const IpAddress& address) noexcept {
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

// Multicast, broadcast and reserved addresses (RFC 1112 section 4, RFC 4291 section 2.7). 0.0.0.0 and :: are this
// machine.
bool is_of_no_machine(const IpAddress& address) {
  static const std::array kNetworks = {parse_ip_network("224.0.0.0/3").value(), parse_ip_network("ff00::/8").value()};
  return std::ranges::any_of(kNetworks, [&](const IpNetwork& each) { return each.contains(address); });
}

// As in Linux (dev_valid_name() in net/core/dev.c), except bytes that end an address in a file or an option.
bool is_device(std::string_view text) noexcept {
  return !text.empty() && text.size() < IF_NAMESIZE && text != "." && text != ".." &&
         std::ranges::all_of(
             text,
             [](char byte) {
               return byte > ' ' && byte <= '~' && std::string_view("/:@%#;,").find(byte) == std::string_view::npos;
             });
}

std::optional<std::uint16_t> port_of(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || stop != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<NameServer> parse_name_server(std::string_view text) {
  NameServer server;
  if (const std::size_t at = text.find('@'); at != text.npos) {
    const std::optional<std::uint16_t> port = port_of(text.substr(at + 1));
    if (!port) return std::nullopt;
    server.port = *port;
    text = text.substr(0, at);
  }
  const std::size_t percent = std::min(text.find('%'), text.size());
  const std::string_view digits = text.substr(0, percent);
  // parse_ip_address() also reads forms that only mail servers write: `[…]` and `IPv6:…`.
  const bool is_plain =
      std::ranges::all_of(digits, [](char byte) { return ascii::is_hex_digit(byte) || byte == '.' || byte == ':'; });
  const std::optional<IpAddress> address = is_plain ? parse_ip_address(digits) : std::nullopt;
  if (!address) return std::nullopt;
  server.address = *address;
  if (is_of_no_machine(server.address)) return std::nullopt;
  // A link-local address is unique only within one link (RFC 4007 section 6).
  const bool has_scope = percent != text.size();
  if (has_scope != is_link_local(server.address)) return std::nullopt;
  if (!has_scope) return server;
  server.scope = text.substr(percent + 1);
  if (!is_device(server.scope)) return std::nullopt;
  return server;
}

std::string to_string(const NameServer& server) {
  std::string text = to_string(server.address);
  if (!server.scope.empty()) text.append("%").append(server.scope);
  if (server.port != kDnsPort) text.append("@").append(std::to_string(server.port));
  return text;
}

}  // namespace bloomgate
