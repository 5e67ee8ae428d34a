#include "config/ip_network.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace bloomgate {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned kMappedPrefixBits = 96;
constexpr unsigned kAddressBits = 128;

IpAddress mapped(const in_addr& v4) noexcept {
  IpAddress address;
  std::ranges::copy(kMappedPrefix, address.bytes.begin());
  std::memcpy(address.bytes.data() + kMappedPrefix.size(), &v4, sizeof v4);
  return address;
}

IpAddress whole(const in6_addr& v6) noexcept {
  IpAddress address;
  std::memcpy(address.bytes.data(), &v6, sizeof v6);
  return address;
}

// The mask of a byte whose first `bits` bits belong to the prefix; more than 8 count as 8, fewer than 0 as 0.
std::uint8_t mask_of(int bits) noexcept {
  return static_cast<std::uint8_t>(0xff00U >> std::clamp(bits, 0, 8));
}

bool equal_in_prefix(const IpAddress& one, const IpAddress& other, unsigned prefix_bits) noexcept {
  for (std::size_t i = 0; i < one.bytes.size(); ++i) {
    const std::uint8_t mask = mask_of(static_cast<int>(prefix_bits) - static_cast<int>(8 * i));
    if (((one.bytes[i] ^ other.bytes[i]) & mask) != 0) return false;
  }
  return true;
}

bool is_clear_behind(const IpAddress& address, unsigned prefix_bits) noexcept {
  for (std::size_t i = 0; i < address.bytes.size(); ++i) {
    const std::uint8_t mask = mask_of(static_cast<int>(prefix_bits) - static_cast<int>(8 * i));
    if ((address.bytes[i] & ~mask) != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  constexpr std::string_view kTag = "IPv6:";
  const bool tagged = text.starts_with(kTag);
  if (tagged) text.remove_prefix(kTag.size());
  // inet_pton() reads a C string; text that contains a null byte must not pass as an address.
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string terminated(text);
  in6_addr v6 = {};
  if (inet_pton(AF_INET6, terminated.c_str(), &v6) == 1) return whole(v6);
  in_addr v4 = {};
  if (!tagged && inet_pton(AF_INET, terminated.c_str(), &v4) == 1) return mapped(v4);
  return std::nullopt;
}

std::optional<IpAddress> ip_address_of(const sockaddr* address) noexcept {
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4 = {};
    std::memcpy(&v4, address, sizeof v4);
    return mapped(v4.sin_addr);
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6 = {};
    std::memcpy(&v6, address, sizeof v6);
    return whole(v6.sin6_addr);
  }
  return std::nullopt;
}

bool is_ipv4(const IpAddress& address) noexcept {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.bytes.begin());
}

std::string to_string(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4 = is_ipv4(address);
  inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes.data() + (v4 ? kMappedPrefix.size() : 0), text, sizeof text);
  return text;
}

bool IpNetwork::contains(const IpAddress& other) const noexcept {
  return equal_in_prefix(address, other, prefix_bits);
}

std::optional<IpNetwork> parse_ip_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view host = text.substr(0, slash);
  const auto address = parse_ip_address(host);
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return IpNetwork{*address, kAddressBits};
  const std::string_view length = text.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  if (error != std::errc() || end != length.data() + length.size()) return std::nullopt;
  // The prefix of an address in dotted form is counted from the first bit of that form.
  const unsigned skipped = host.find(':') == std::string_view::npos ? kMappedPrefixBits : 0;
  if (bits > kAddressBits - skipped || !is_clear_behind(*address, bits + skipped)) return std::nullopt;
  return IpNetwork{*address, static_cast<std::uint8_t>(bits + skipped)};
}

}  // namespace bloomgate
