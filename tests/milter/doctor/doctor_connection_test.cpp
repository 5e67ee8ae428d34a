#include "milter/doctor/doctor_connection.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

std::string text_of(const std::optional<SocketAddress>& address) {
  return address ? to_string(*address) : "none";
}

TEST_CASE("the addresses of milters are read in Postfix's forms") {
  CHECK(text_of(postfix_milter_address("unix:/run/o.sock", "/q")) == "unix:/run/o.sock");
  CHECK(text_of(postfix_milter_address("local:opendkim/o.sock", "/q")) == "unix:/q/opendkim/o.sock");
  CHECK(text_of(postfix_milter_address("inet:localhost:8891", "/q")) == "inet:8891@localhost");
  CHECK(text_of(postfix_milter_address("inet:[127.0.0.1]:8891", "/q")) == "inet:8891@127.0.0.1");
  for (const char* const text : {"", "unix", "inet:8891", "inet:host:smtp", "other:host:1"}) {
    INFO(text);
    CHECK(text_of(postfix_milter_address(text, "/q")) == "none");
  }
}

TEST_CASE("a next hop with a port has an address, and one without has none") {
  CHECK(text_of(next_hop_address("[127.0.0.1]:10024")) == "inet:10024@127.0.0.1");
  CHECK(text_of(next_hop_address("scan.example.org:10024")) == "inet:10024@scan.example.org");
  CHECK(text_of(next_hop_address("[ipv6:::1]:10024")) == "inet:10024@::1");
  for (const char* const text : {"", "dummy", "[127.0.0.1]", "[::1]", "[127.0.0.1]:", ":1"}) {
    INFO(text);
    CHECK(text_of(next_hop_address(text)) == "none");
  }
}

}  // namespace
}  // namespace bloomgate
