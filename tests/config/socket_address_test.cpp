#include "config/socket_address.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

TEST_CASE("socket addresses are read in libmilter's forms, and printed as they were given") {
  struct Case {
    std::string input, want;
  };
  const Case cases[] = {
      {"unix:/run/bloomgate/milter.sock", "unix:/run/bloomgate/milter.sock"},
      {"local:/run/bloomgate/milter.sock", "unix:/run/bloomgate/milter.sock"},
      {"unix:relative.sock", "unix:relative.sock"},
      {"unix:/with:colon@and at", "unix:/with:colon@and at"},
      {"unix:/" + std::string(106, 'p'), "unix:/" + std::string(106, 'p')},
      {"inet:8891@127.0.0.1", "inet:8891@127.0.0.1"},
      {"inet:8891@[127.0.0.1]", "inet:8891@127.0.0.1"},
      {"inet:1@mail.example.org", "inet:1@mail.example.org"},
      {"inet6:65535@::1", "inet6:65535@::1"},
      {"inet6:8891@[::1]", "inet6:8891@::1"},
  };
  for (const Case& c : cases) {
    INFO(c.input);
    const auto address = parse_socket_address(c.input);
    REQUIRE(address);
    CHECK(to_string(*address) == c.want);
    CHECK(parse_socket_address(c.want) == address);
  }
}

TEST_CASE("addresses of web servers are read in their usual forms") {
  using Family = SocketAddress::Family;
  struct Case {
    std::string input;
    SocketAddress want;
  };
  const Case cases[] = {
      {"127.0.0.1:9812", {Family::inet, "", "127.0.0.1", "9812"}},
      {"localhost:1", {Family::inet, "", "localhost", "1"}},
      {"[::1]:65535", {Family::inet6, "", "::1", "65535"}},
      {"/run/bloomgate/metrics.sock", {Family::unix_path, "/run/bloomgate/metrics.sock", "", ""}},
      {"/with:colon and space", {Family::unix_path, "/with:colon and space", "", ""}},
      {"/" + std::string(106, 'p'), {Family::unix_path, "/" + std::string(106, 'p'), "", ""}},
  };
  for (const Case& c : cases) {
    INFO(c.input);
    CHECK(parse_http_address(c.input) == c.want);
  }
}

TEST_CASE("an invalid address of a web server is refused") {
  for (const std::string input :
       {"", "9812", ":9812", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:http", "::1:9812",
        "[::1]", "[]:9812", "[::1:9812", "a b:9812", "http://127.0.0.1:9812", "inet:9812@127.0.0.1", "relative.sock",
        "unix:/run/metrics.sock"}) {
    INFO(input);
    CHECK_FALSE(parse_http_address(input));
  }
  CHECK_FALSE(parse_http_address("/" + std::string(107, 'p')));
}

TEST_CASE("the parts of a socket address are stored in the right members") {
  CHECK(parse_socket_address("local:/s") == SocketAddress{SocketAddress::Family::unix_path, "/s", "", ""});
  CHECK(parse_socket_address("inet:25@h") == SocketAddress{SocketAddress::Family::inet, "", "h", "25"});
  CHECK(parse_socket_address("inet6:25@[::1]") == SocketAddress{SocketAddress::Family::inet6, "", "::1", "25"});
}

TEST_CASE("an invalid socket address is refused") {
  const std::string cases[] = {
      "",
      "/run/milter.sock",       // no scheme
      "UNIX:/run/milter.sock",  // not as documented
      "fd:3",                   // libmilter's own way, not ours
      "unix:",                  // no path
      "unix:/" + std::string(107, 'p'),
      "inet:8891",         // on every address, without saying so
      "inet:8891@",        // no host
      "inet:@127.0.0.1",   // no port
      "inet:0@127.0.0.1",  // no fixed port
      "inet:65536@127.0.0.1",
      "inet:-1@127.0.0.1",
      "inet:milter@127.0.0.1",
      "inet:127.0.0.1:8891",  // Postfix's way round
      "inet:8891@a@b",
      "inet:8891@a b",
      "inet6:8891@[::1",
  };
  for (const std::string& input : cases) {
    INFO(input);
    CHECK_FALSE(parse_socket_address(input));
  }
}

}  // namespace
}  // namespace bloomgate
