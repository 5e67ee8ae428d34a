#include "config/restart_options.hpp"

#include "tests/support/catch.hpp"

namespace bloomgate {
namespace {

using Names = std::vector<std::string_view>;

DaemonOptions options(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = {"--config", "/dev/null"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return read_daemon_command(arguments).options;
}

TEST_CASE("options of the sockets and the log's target wait for a restart if they differ, and no others") {
  const DaemonOptions in_use = options({});
  struct Case {
    std::vector<std::string> words;
    Names want;
  };
  const Case cases[] = {
      {{}, {}},
      {{"--socket", "inet:8891@127.0.0.1"}, {"socket"}},
      {{"--socket", "inet:8891@127.0.0.1", "--socket-mode", "0600", "--socket-group", "mail", "--log-target", "stderr",
        "--metrics", "127.0.0.1:9812", "--lookup-socket", "127.0.0.1:9813", "--lookup-messages", "8", "--lookup-token",
        "/t"},
       {"socket", "socket-mode", "socket-group", "log-target", "metrics", "lookup-socket", "lookup-messages",
        "lookup-token"}},
      {{"--mode",
        "observe",
        "--identity",
        "both",
        "--log-level",
        "error",
        "--deep-check",
        "spamd:unix:/s",
        "--deep-check-sample",
        "1%",
        "--whitelist",
        "/w",
        "--host-name",
        "mx",
        "--recheck-rate",
        "0",
        "--confirm",
        "/s",
        "--confirm-timeout",
        "1",
        "--allow-missing-whitelist",
        "yes"},
       {}},
  };
  for (const Case& c : cases) CHECK(changed_restart_options(in_use, options(c.words)) == c.want);
}

}  // namespace
}  // namespace bloomgate
