// The program itself, from outside: what it prints and how it ends.
#include <sys/wait.h>
#include <sysexits.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "milter/listening_socket.hpp"
#include "tests/milter/daemon_parts.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;

struct Ended {
  int status;
  std::string output;  // standard output and error together
};

// Runs the daemon's program with those words after its name, and waits for its end.
Ended run(const test::TemporaryFolder& folder, const std::string& arguments) {
  const std::string output = folder.file("output");
  const std::string command =
      "timeout 20 '" BLOOMGATE_MILTER_PROGRAM "' " + arguments + " > '" + output + "' 2>&1 < /dev/null";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a fixed program, words of this file
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, test::read_file(output)};
}

TEST_CASE("help and version are answered, whatever the configuration") {
  const test::TemporaryFolder folder;
  const Ended help = run(folder, "--help");
  CHECK(help.status == EX_OK);
  CHECK_THAT(help.output, Catch::StartsWith("usage: bloomgate-milter") && Contains("--allow-missing-whitelist"));
  const Ended version = run(folder, "--version");
  CHECK(version.status == EX_OK);
  CHECK(version.output == "bloomgate-milter " BLOOMGATE_VERSION "\n");
}

TEST_CASE("a start that cannot succeed ends with a status of sysexits and a sentence that says why") {
  const test::TemporaryFolder folder;
  const test::WhitelistFile whitelist({"joe@example.org"});
  const test::WhitelistFile damaged({"joe@example.org"});
  damaged.truncate();
  test::write_file(folder.file("bad.conf"), "mode = observe\nlog-level = loud\n");
  const std::string used = folder.file("used.sock");
  const ListeningSocket in_use(*parse_socket_address("unix:" + used), 0600, "");

  const std::string good = "--config /dev/null --log-target stderr --whitelist " + whitelist.path() + " ";
  struct Case {
    std::string_view name;
    std::string arguments;
    int status;
    std::string message;
  };
  const Case cases[] = {
      {"unknown option", "--nonsense", EX_USAGE, "'--nonsense'"},
      {"bad value on the command line", good + "--mode off", EX_USAGE, "command line: --mode: expected one of"},
      {"bad value in the file", "--config " + folder.file("bad.conf"), EX_CONFIG,
       "bad.conf:2: log-level: expected one of"},
      {"no file", "--config " + folder.file("missing.conf"), EX_CONFIG,
       "missing.conf: the configuration file cannot be opened"},
      {"missing whitelist", "--config /dev/null --log-target stderr --whitelist /nonexistent/w", EX_NOINPUT,
       "/nonexistent/w"},
      {"damaged whitelist", "--config /dev/null --log-target stderr --whitelist " + damaged.path(), EX_DATAERR,
       damaged.path()},
      {"socket in use", good + "--socket unix:" + used, EX_UNAVAILABLE, "is bloomgate-milter running already?"},
      {"socket's folder missing", good + "--socket unix:/nonexistent/s", EX_CANTCREAT, "unix:/nonexistent/s"},
      {"no such group", good + "--socket-group no-such-group --socket unix:" + folder.file("s"), EX_CONFIG,
       "'no-such-group'"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Ended ended = run(folder, c.arguments);
    CHECK(ended.status == c.status);
    CHECK_THAT(ended.output, Contains("bloomgate-milter: ") && Contains(c.message));
  }
}

TEST_CASE("option --check-config tells of the configuration and the whitelist, and starts nothing") {
  const test::TemporaryFolder folder;
  const test::WhitelistFile whitelist({"joe@example.org"});
  const std::string config = folder.file("test.conf");
  test::write_file(config, "whitelist = " + whitelist.path() + "\nsocket = unix:" + folder.file("s") + "\n");

  const Ended good = run(folder, "--check-config --config " + config);
  CHECK(good.status == EX_OK);
  CHECK_THAT(good.output, Contains("configuration " + config + ": good") && Contains(whitelist.path() + ": 1 entries"));
  CHECK_FALSE(std::filesystem::exists(folder.file("s")));

  std::filesystem::remove(whitelist.path());
  const Ended missing = run(folder, "--check-config --config " + config);
  CHECK(missing.status == EX_NOINPUT);
  CHECK_THAT(missing.output, Contains(whitelist.path()));

  const Ended allowed = run(folder, "--check-config --allow-missing-whitelist yes --config " + config);
  CHECK(allowed.status == EX_OK);
  CHECK_THAT(allowed.output, Contains("none that can be used, which is allowed"));

  CHECK(run(folder, "--check-config --mode off --config " + config).status == EX_USAGE);
}

}  // namespace
}  // namespace bloomgate
