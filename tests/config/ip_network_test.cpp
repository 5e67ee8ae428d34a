#include "config/ip_network.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a network contains the addresses of its prefix and no others") {
  struct Case {
    std::string_view network, address;
    bool want;
  };
  const Case cases[] = {
      {"192.0.2.0/24", "192.0.2.0", true},
      {"192.0.2.0/24", "192.0.2.255", true},
      {"192.0.2.0/24", "192.0.3.0", false},
      {"192.0.2.0/24", "192.0.1.255", false},
      {"192.0.2.128/25", "192.0.2.127", false},
      {"192.0.2.128/25", "192.0.2.128", true},
      {"192.0.2.4/31", "192.0.2.5", true},
      {"192.0.2.4/31", "192.0.2.6", false},
      {"192.0.2.1", "192.0.2.1", true},
      {"192.0.2.1", "192.0.2.2", false},
      {"192.0.2.1/32", "192.0.2.1", true},
      {"0.0.0.0/0", "255.255.255.255", true},
      {"0.0.0.0/0", "2001:db8::1", false},
      {"192.0.2.0/24", "::ffff:192.0.2.7", true},
      {"::ffff:192.0.2.0/120", "192.0.2.7", true},
      {"::ffff:192.0.2.0/120", "192.0.3.7", false},
      {"::/0", "192.0.2.7", true},
      {"2001:db8::/32", "2001:db8:ffff::1", true},
      {"2001:db8::/32", "2001:db9::", false},
      {"2001:db8::/33", "2001:db8:8000::", false},
      {"::1", "::1", true},
      {"::1", "127.0.0.1", false},
      {"127.0.0.0/8", "::1", false},
      {"[2001:db8::1]", "IPv6:2001:db8::1", true},
  };
  for (const Case& c : cases) {
    INFO(c.network << " and " << c.address);
    const auto network = parse_ip_network(c.network);
    const auto address = parse_ip_address(c.address);
    REQUIRE(network);
    REQUIRE(address);
    CHECK(network->contains(*address) == c.want);
  }
}

TEST_CASE("an invalid network is refused") {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv,
                                      "/"sv,
                                      "/24"sv,
                                      "192.0.2.0/"sv,
                                      "192.0.2.0/33"sv,
                                      "192.0.2.0/-1"sv,
                                      "192.0.2.0/+8"sv,
                                      "192.0.2.0/8x"sv,
                                      "192.0.2.0/24/8"sv,
                                      "192.0.2.1/24"sv,
                                      "192.0.2"sv,
                                      "192.0.2.256"sv,
                                      "192.0.2.0 /24"sv,
                                      "192.0.2.0\0/24"sv,
                                      "192.0.2.0\0"sv,
                                      "2001:db8::/129"sv,
                                      "2001:db8::1/64"sv,
                                      "2001:db8::/4294967328"sv,
                                      "localhost"sv,
                                      "[]"sv,
                                      "IPv6:192.0.2.1"sv,
                                      ":::"sv,
                                      "fe80::1%lo"sv,
                                      "0x7f.0.0.1"sv}) {
    INFO("'" << text << "'");
    CHECK_FALSE(parse_ip_network(text));
  }
  CHECK_FALSE(parse_ip_address(std::string(100'000, '1')));
}

TEST_CASE("the address of a socket is read in both families, and refused in any other") {
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr);
  CHECK(ip_address_of(reinterpret_cast<const sockaddr*>(&v4)) == parse_ip_address("192.0.2.1"));
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  for (const char* const text : {"2001:db8::1", "::ffff:192.0.2.1"}) {
    inet_pton(AF_INET6, text, &v6.sin6_addr);
    CHECK(ip_address_of(reinterpret_cast<const sockaddr*>(&v6)) == parse_ip_address(text));
  }
  sockaddr_un local = {};
  local.sun_family = AF_UNIX;
  CHECK_FALSE(ip_address_of(reinterpret_cast<const sockaddr*>(&local)));
  CHECK_FALSE(ip_address_of(nullptr));
}

TEST_CASE("an address is printed in the usual notation") {
  for (const char* const text : {"192.0.2.1", "2001:db8::1", "::1"}) CHECK(to_string(*parse_ip_address(text)) == text);
  CHECK(to_string(*parse_ip_address("::ffff:192.0.2.1")) == "192.0.2.1");
}

}  // namespace
}  // namespace bloomgate
