// Which addresses of name servers are accepted: by the check of the configuration and by the start of a resolver alike.
#include <cstdlib>
#include <string>

#include "config/name_server.hpp"
#include "filter/base/error.hpp"
#include "milter/names/resolver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/places.hpp"

namespace bloomgate {
namespace {

bool check_accepts(const std::string& server) {
  const std::string command = test::milter_program() +
                              " --check-config --config /dev/null --whitelist /nowhere --mode observe"
                              " --dns-servers '" +
                              server + "' 2>&1 | grep -q dns-servers";
  return std::system(command.c_str()) != 0;  // NOLINT(concurrency-mt-unsafe)
}

bool resolver_starts(const std::string& server) {
  try {
    const Resolver resolver({.servers = {server}});
    return true;
  } catch (const BloomgateError& error) {
    CHECK(error.code() == ErrorCode::bad_configuration);
    return false;
  }
}

TEST_CASE("the check of the configuration accepts the name servers with which a resolver starts, and no others") {
  struct Case {
    std::string text;
    std::string want;  // as libunbound is told; empty: refused
  };
  const Case cases[] = {
      {"192.0.2.53", "192.0.2.53"},
      {"192.0.2.53@5353", "192.0.2.53@5353"},
      {"192.0.2.53@53", "192.0.2.53"},
      {"2001:DB8::53", "2001:db8::53"},
      {"2001:db8:0::53@5353", "2001:db8::53@5353"},
      {"::1", "::1"},
      {"::ffff:192.0.2.53", "192.0.2.53"},
      {"fe80::53", ""},
      {"0.0.0.0", "0.0.0.0"},
      {"224.0.0.251", ""},
      {"255.255.255.255", ""},
      {"ff02::fb", ""},
      {"fe80::53%eth0", "fe80::53%eth0"},
      {"fe80::53%lo@5353", "fe80::53%lo@5353"},
      {"fe80::53%2", "fe80::53%2"},
      {"fe80::53%br-1.42", "fe80::53%br-1.42"},
      {"fe80::53%", ""},
      {"fe80::53%a-name-too-long-for-it", ""},
      {"fe80::53%a/b", ""},
      {"fe80::53%eth0%eth1", ""},
      {"2001:db8::53%eth0", ""},
      {"192.0.2.53%eth0", ""},
      {"192.0.2.53@", ""},
      {"192.0.2.53@0", ""},
      {"192.0.2.53@65536", ""},
      {"192.0.2.53@-1", ""},
      {"192.0.2.53@+53", ""},
      {"192.0.2.53@dns", ""},
      {"192.0.2.53@53@53", ""},
      {"192.0.2.53:53", ""},
      {"192.0.2.53#name", ""},
      {"192.0.2.53@853#dns.example", ""},
      {"[2001:db8::53]", ""},
      {"IPv6:2001:db8::53", ""},
      {"192.0.2.053", ""},
      {"127.1", ""},
      {"localhost", ""},
      {"@53", ""},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const std::optional<NameServer> server = parse_name_server(c.text);
    CHECK((server ? to_string(*server) : "") == c.want);
    if (server) CHECK(parse_name_server(to_string(*server)) == server);
    CHECK(check_accepts(c.text) == !c.want.empty());
    CHECK(resolver_starts(c.text) == !c.want.empty());
  }
}

}  // namespace
}  // namespace bloomgate
