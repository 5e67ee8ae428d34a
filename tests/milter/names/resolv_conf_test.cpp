#include "milter/names/resolv_conf.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::vector<std::string> servers_of(const ResolvConf& conf) {
  std::vector<std::string> servers;
  for (const NameServer& server : conf.servers) servers.push_back(to_string(server));
  return servers;
}

TEST_CASE("the valid servers of resolv.conf are used, and its invalid lines are skipped and named") {
  using Strings = std::vector<std::string>;
  struct Case {
    std::string text;
    Strings servers, left_out;
  };
  const Case cases[] = {
      {"", {}, {}},
      {"nameserver 192.0.2.53\n", {"192.0.2.53"}, {}},
      {"nameserver 192.0.2.53", {"192.0.2.53"}, {}},
      {"  nameserver\t192.0.2.53\r\n", {"192.0.2.53"}, {}},
      {"nameserver 192.0.2.53 # the office\n", {"192.0.2.53"}, {}},
      {"# nameserver 192.0.2.1\n; nameserver 192.0.2.2\n", {}, {}},
      {"domain example.org\nsearch example.org\noptions edns0 trust-ad\nsortlist 192.0.2.0\n", {}, {}},
      {"options edns0\nnameserver fe80::53%eth0\nnameserver ::1\n", {"fe80::53%eth0", "::1"}, {}},
      {"nameserver 192.0.2.53\nnameserver 192.0.2.53\nnameserver 2001:db8::53\n", {"192.0.2.53", "2001:db8::53"}, {}},
      {"nameserver dns.example\nnameserver 192.0.2.53\n", {"192.0.2.53"}, {"line 1: nameserver dns.example"}},
      {"\n\nnameserver\nnameserver 192.0.2.53\n", {"192.0.2.53"}, {"line 3: nameserver"}},
      {"nameservers 192.0.2.53\nnameserver192.0.2.53\n", {}, {}},
      {"nameserver " + std::string(200, 'x'), {}, {"line 1: nameserver " + std::string(69, 'x')}},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const ResolvConf conf = read_resolv_conf(c.text);
    CHECK(servers_of(conf) == c.servers);
    CHECK(conf.left_out == c.left_out);
  }
}

TEST_CASE("from a long resolv.conf no more servers and invalid lines are kept than the limits") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "nameserver 192.0.2." + std::to_string(i) + "\nnameserver bad\n";
  const ResolvConf conf = read_resolv_conf(text);
  CHECK(conf.servers.size() == kMostServers);
  CHECK(conf.left_out.size() == kMostLeftOut);
}

}  // namespace
}  // namespace bloomgate
