// Which name servers this machine uses, according to resolv.conf(5). libunbound reads such a file too, but ignores all
// of it if one line is invalid. Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/name_server.hpp"

namespace bloomgate {

struct ResolvConf {
  std::vector<NameServer> servers = {};    // in their order, each once
  std::vector<std::string> left_out = {};  // invalid lines, as in "line 3: nameserver 192.0.2"

  friend bool operator==(const ResolvConf&, const ResolvConf&) = default;
};

// Reads the lines `nameserver ADDRESS`; the rest of such a line, and all other lines, are ignored. At most kMostServers
// servers, and kMostLeftOut invalid lines, whose text is cut off.
inline constexpr std::size_t kMostServers = 16;
inline constexpr std::size_t kMostLeftOut = 4;
ResolvConf read_resolv_conf(std::string_view text);

}  // namespace bloomgate
