#include "milter/lookup/learned_answers.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("learned entries are looked up over a unix socket, and over TCP only if the operator allows it") {
  struct Case {
    std::string_view name, address;
    mode_t mode = 0;
    bool is_open = false, is_answered = false;
    std::string_view told;
  };
  const Case cases[] = {
      {"a unix socket", "/run/lookup.sock", 0660, false, true, "learned, too; socket-mode and socket-group say"},
      {"a unix socket, and the option", "/run/lookup.sock", 0660, true, true, "socket-mode and socket-group say who"},
      {"a unix socket for all", "/run/lookup.sock", 0666, false, true,
       "socket-mode lets every user of this machine ask"},
      {"this machine alone", "127.0.0.1:9813", 0660, false, false, "what was learned is not asked there"},
      {"this machine alone, IPv6", "[::1]:9813", 0660, false, false, "what was learned is not asked there"},
      {"this machine alone, opened", "127.0.0.1:9813", 0660, true, true,
       "(lookup-learned-over-tcp = yes): every program"},
      {"a name", "localhost:9813", 0660, false, false, "what was learned is not asked there"},
      {"other machines", "192.0.2.1:9813", 0660, false, false, "what was learned is not asked there"},
      {"other machines, opened", "192.0.2.1:9813", 0660, true, true, "(lookup-learned-over-tcp = yes): every program"},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    const SocketAddress address = parse_http_address(each.address).value();
    DaemonOptions options = {};
    options.lookup_learned_over_tcp = each.is_open;
    options.socket_mode = each.mode;
    options.learn = DaemonOptions::Learn::outbound;
    CHECK(answers_for_learned(address, options) == each.is_answered);
    const std::string text = learned_answers_text(address, options);
    CHECK_THAT(text, StartsWith("lookup-socket " + to_string(address) + ": ") && Contains(std::string(each.told)));

    options.learn = DaemonOptions::Learn::none;
    CHECK(learned_answers_text(address, options).empty());
  }
}

}  // namespace
}  // namespace bloomgate::test
