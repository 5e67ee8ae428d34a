#include "config/deep_check_options.hpp"

#include <algorithm>

#include "filter/base/ascii.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMaxUrlBytes = 1000;
constexpr std::string_view kRspamd = "rspamd:";
constexpr std::string_view kSpamd = "spamd:";

bool consists_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [others](char character) {
    return ascii::is_letter_or_digit(character) || others.find(character) != std::string_view::npos;
  });
}

// Accepts `host`, `host:11333`, `[::1]:11333`. The port must be valid for a socket address.
bool is_authority(std::string_view text) {
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || !consists_of(text.substr(1, end - 1), ":.")) return false;
    ++end;
  } else if (!consists_of(text.substr(0, end), ".-_")) {
    return false;
  }
  const std::string_view host = text.substr(0, end);
  if (host.empty() || host == "[]") return false;
  if (host.size() == text.size()) return true;
  if (text[host.size()] != ':') return false;
  return parse_socket_address("inet:" + std::string(text.substr(host.size() + 1)) + "@host").has_value();
}

std::optional<DeepCheckServer> rspamd_by_url(std::string_view url) {
  const std::string_view scheme = url.starts_with("https://") ? "https://" : "http://";
  if (!url.starts_with(scheme) || url.size() > kMaxUrlBytes) return std::nullopt;
  const std::string_view rest = url.substr(scheme.size());
  const std::string_view authority = rest.substr(0, rest.find('/'));
  if (!is_authority(authority) || !consists_of(rest.substr(authority.size()), "/.-_~")) return std::nullopt;
  return DeepCheckServer{DeepCheckServer::Kind::rspamd, std::string(url.substr(0, url.find_last_not_of('/') + 1)), {}};
}

}  // namespace

std::optional<DeepCheckServer> parse_deep_check_server(std::string_view text) {
  using Kind = DeepCheckServer::Kind;
  const bool is_rspamd = text.starts_with(kRspamd);
  if (!is_rspamd && !text.starts_with(kSpamd)) return std::nullopt;
  const std::string_view rest = text.substr(is_rspamd ? kRspamd.size() : kSpamd.size());
  if (is_rspamd && rest.starts_with("http")) return rspamd_by_url(rest);
  const auto address = parse_socket_address(rest);
  if (!address || (is_rspamd && address->family != SocketAddress::Family::unix_path)) return std::nullopt;
  return DeepCheckServer{is_rspamd ? Kind::rspamd : Kind::spamd, {}, *address};
}

std::string to_string(const DeepCheckServer& server) {
  std::string text(server.kind == DeepCheckServer::Kind::rspamd ? kRspamd : kSpamd);
  return text + (server.url.empty() ? to_string(server.address) : server.url);
}

}  // namespace bloomgate
