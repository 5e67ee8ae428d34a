// Whatever resolv.conf holds: each server is one that can be asked and reads the same again, a good line is used
// whatever else is there, and no more is kept than the limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "milter/names/resolv_conf.hpp"
#include "tests/fuzz/require.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  using test::require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ResolvConf found = read_resolv_conf(text);
  require(found.servers.size() <= kMostServers && found.left_out.size() <= kMostLeftOut, "the limits hold");
  for (const NameServer& server : found.servers) {
    require(server.port != 0 && parse_name_server(to_string(server)) == server, "a server reads the same again");
  }
  const NameServer good = *parse_name_server("192.0.2.53");
  const ResolvConf more = read_resolv_conf("nameserver 192.0.2.53\n" + text);
  require(more.servers.front() == good, "a good line is used");
  for (const NameServer& server : found.servers) {
    require(more.servers.size() == kMostServers || std::ranges::find(more.servers, server) != more.servers.end(),
            "a line takes no other one along");
  }
  return 0;
}
