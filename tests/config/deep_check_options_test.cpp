#include "config/deep_check_options.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Kind = DeepCheckServer::Kind;

TEST_CASE("a checker is rspamd at a URL or a unix socket, or spamd at any socket, and is printed as it was given") {
  struct Case {
    std::string_view text;
    Kind kind;
    std::string_view url, address, written;
  };
  const Case cases[] = {
      {"rspamd:http://127.0.0.1:11333", Kind::rspamd, "http://127.0.0.1:11333", "", "rspamd:http://127.0.0.1:11333"},
      {"rspamd:http://127.0.0.1:11333/", Kind::rspamd, "http://127.0.0.1:11333", "", "rspamd:http://127.0.0.1:11333"},
      {"rspamd:https://rspamd.example", Kind::rspamd, "https://rspamd.example", "", "rspamd:https://rspamd.example"},
      {"rspamd:http://[::1]:1/a/b/", Kind::rspamd, "http://[::1]:1/a/b", "", "rspamd:http://[::1]:1/a/b"},
      {"rspamd:unix:/run/r.sock", Kind::rspamd, "", "unix:/run/r.sock", "rspamd:unix:/run/r.sock"},
      {"rspamd:local:/run/r.sock", Kind::rspamd, "", "unix:/run/r.sock", "rspamd:unix:/run/r.sock"},
      {"spamd:unix:/run/s.sock", Kind::spamd, "", "unix:/run/s.sock", "spamd:unix:/run/s.sock"},
      {"spamd:inet:783@127.0.0.1", Kind::spamd, "", "inet:783@127.0.0.1", "spamd:inet:783@127.0.0.1"},
      {"spamd:inet6:783@[::1]", Kind::spamd, "", "inet6:783@::1", "spamd:inet6:783@::1"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto server = parse_deep_check_server(c.text);
    REQUIRE(server);
    CHECK(server->kind == c.kind);
    CHECK(server->url == c.url);
    if (!c.address.empty()) CHECK(to_string(server->address) == c.address);
    CHECK(to_string(*server) == c.written);
    CHECK(parse_deep_check_server(to_string(*server)) == server);
  }
}

TEST_CASE("any other text is refused as a checker") {
  for (const char* const text : {"",
                                 "rspamd",
                                 "rspamd:",
                                 "spamd:",
                                 "Rspamd:http://h:1",
                                 "rspamd:127.0.0.1:11333",
                                 "rspamd:inet:11333@127.0.0.1",
                                 "rspamd:ftp://h:1",
                                 "rspamd:http:",
                                 "rspamd:http://",
                                 "rspamd:http:///x",
                                 "rspamd:http://:11333",
                                 "rspamd:http://h:",
                                 "rspamd:http://h:0",
                                 "rspamd:http://h:65536",
                                 "rspamd:http://h:1x",
                                 "rspamd:http://[::1",
                                 "rspamd:http://[]:1",
                                 "rspamd:http://[::1]1",
                                 "rspamd:http://user@h:1",
                                 "rspamd:http://u:p@h:1",
                                 "rspamd:http://h:1/?a=b",
                                 "rspamd:http://h:1/a b",
                                 "rspamd:http://h\r\n:1",
                                 "rspamd:httpx://h:1",
                                 "spamd:http://127.0.0.1:783",
                                 "spamd:127.0.0.1:783",
                                 "spamd:inet:783"}) {
    INFO(text);
    CHECK_FALSE(parse_deep_check_server(text));
  }
  CHECK_FALSE(parse_deep_check_server("rspamd:http://" + std::string(2000, 'h')));
}

}  // namespace
}  // namespace bloomgate
