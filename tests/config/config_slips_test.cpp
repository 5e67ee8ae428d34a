// Slips in the daemon's configuration and on its command line: each is refused with a sentence that leads on.
#include "config/daemon_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

struct Slip {
  std::string_view name;
  std::string text;
  std::string_view says;
};

TEST_CASE("a slip in the configuration file is refused with its line, and with what to write") {
  const std::string long_path = "/run/" + std::string(120, 'x');
  const Slip slips[] = {
      {"a section", "[main]\n", ":1: expected 'name = value', got '[main]'; this file has no sections"},
      {"no equals sign", "mode observe\n", ":1: expected 'name = value', got 'mode observe'; put '=' behind mode"},
      {"a colon", "mode: observe\n", "; put '=' behind mode"},
      {"no equals sign before a key", "trusted-key abc\n", "got 'trusted-key ...'; put '=' behind trusted-key"},
      {"a name mistyped", "\nmdoe = observe\n", ":2: mdoe: there is no such option (did you mean mode?); see"},
      {"a capital", "Mode = observe\n", "(did you mean mode?)"},
      {"an underscore", "own_domains = a.example\n", "(did you mean own-domains?)"},
      {"a name of another program", "HARVEST = x\n", "HARVEST: there is no such option; see bloomgate-milter.conf(5)"},
      {"a value in quotes", "mode = \"observe\"\n", "mode: a value has no quotes around it; write mode = observe"},
      {"a path in quotes", "whitelist = '/a b'\n",
       "whitelist: a value has no quotes around it; write whitelist = /a b"},
      {"a value mistyped", "mode = obsreve\n", "got 'obsreve' (did you mean observe?)"},
      {"another word for yes", "lock-memory = true\n", "expected one of yes, no, got 'true'"},
      {"no value", "mode =\n", "expected one of enforce, observe, got nothing"},
      {"twice", "mode = observe\nmode = enforce\n", ":2: mode: given a second time (the first is in line 1)"},
      {"a size for a number", "max-connections = 8G\n", "expected a number from 1 to 100000, got '8G'"},
      {"a number with a comma", "max-connections = 2,000\n", "expected a number from 1 to 100000, got '2,000'"},
      {"hours for seconds", "connection-timeout = 2h\n", "expected a number of seconds from 1 to 7200, got '2h'"},
      {"a space before the percent sign", "deep-check-sample = 10 %\n", "a share from 0% to 100%, such as 0.1%"},
      {"two letters for a unit", "recheck-rate = 1GB\n", "with or without K, M or G after it, got '1GB'"},
      {"months", "learn-keep = 6m\n", "expected a number of days from 1d to 36500d, got '6m'"},
      {"a network with a mask", "exempt-networks = 10.0.0.0 255.0.0.0\n", "such as 192.0.2.0/24"},
      {"a semicolon between networks", "exempt-networks = 10.0.0.0/8;192.0.2.1\n", "got '10.0.0.0/8;192.0.2.1'"},
      {"an address for a domain", "own-domains = joe@example.org\n", "expected domains, such as example.org"},
      {"a colon before a port", "dns-servers = 127.0.0.1:53\n", "such as 192.0.2.53, 2001:db8::53, fe80::53%eth0 or"},
      {"a socket without its kind", "socket = /run/b.sock\n", "expected unix:PATH, local:PATH, inet:PORT@HOST"},
      {"a socket as elsewhere", "socket = inet:127.0.0.1:8891\n", "(as in inet:8891@127.0.0.1)"},
      {"a long path", "socket = unix:" + long_path + "\n", "expected a path of at most 107 bytes, got '/run/xxx"},
      {"a long path of the other kind", "metrics = " + long_path + "\n", "expected a path of at most 107 bytes"},
      {"a URL", "metrics = http://127.0.0.1:9812/\n", "(as in 127.0.0.1:9812)"},
      {"a checker without its kind", "deep-check = 127.0.0.1:11333\n", "rspamd:http://HOST:PORT"},
      {"a relative path", "whitelist = whitelist.bloom\n", "a path that begins with '/', got 'whitelist.bloom'"},
      {"a path of the shell", "revoked = ~/revoked.txt\n", "expected a path that begins with '/', got '~/revoked.txt'"},
      {"two paths in a line", "extra = /a.txt /b.txt\n", "expected one path on its line, got '/a.txt /b.txt'"},
      {"one address for two", "metrics = 127.0.0.1:9812\nlookup-socket = 127.0.0.1:9812\n",
       "lookup-socket: it has the address of 'metrics': give each its own"},
      {"messages without a socket", "lookup-messages = 8\n", "lookup-messages: it needs a lookup-socket, where"},
      {"messages for everybody", "lookup-socket = 127.0.0.1:9813\nlookup-messages = 8\n",
       "lookup-messages: expected a file in lookup-token"},
      {"the mail server's socket", "socket = unix:/run/b\nmetrics = /run/b\n",
       "metrics: it has the address of 'socket'"},
      {"a public key's file", "trusted-key = /etc/bloomgate/sign.key\n", "expected a public key, the 44 characters"},
  };
  const TemporaryFolder folder;
  const std::string path = folder.file("test.conf");
  for (const Slip& slip : slips) {
    INFO(slip.name);
    write_file(path, slip.text);
    const BloomgateError error = error_of([&] { read_daemon_command({"--config", path}); });
    CHECK(error.code() == ErrorCode::bad_configuration);
    CHECK_THAT(error.what(), StartsWith(path + ":") && Contains(std::string(slip.says)));
  }
}

TEST_CASE("a file that was named for the configuration does not show the secret key in it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("sign.key");
  for (const char* const end : {"==", "", " =", ":"}) {
    write_file(path, "# Secret key of 'bloomgate sign'\n" + std::string(86, 'S') + end + "\n");
    const BloomgateError error = error_of([&] { read_daemon_command({"--config", path}); });
    CHECK_THAT(error.what(), StartsWith(path + ":2: ") && !Contains("SSS"));
  }
}

TEST_CASE("a byte-order mark, Windows line ends and tabs in the configuration file change nothing") {
  const TemporaryFolder folder;
  const std::string path = folder.file("test.conf");
  write_file(path, "\xef\xbb\xbfmode = observe\r\n\tlog-level\t=\terror\t# why\r\n");
  const DaemonOptions options = read_daemon_command({"--config", path}).options;
  CHECK(options.mode == Mode::observe);
  CHECK(options.log_level == LogLevel::error);
}

TEST_CASE("a slip on the daemon's command line is refused with what to write") {
  struct Line {
    std::vector<std::string> words;
    std::string_view says;
  };
  const Line lines[] = {
      {{"--newest", "180d"}, "unrecognised option '--newest'"},
      {{"--check-conf"}, "(did you mean --check-config?)"},
      {{"-config", "/dev/null"}, "unrecognised option '-config' (did you mean --config?)"},
      {{"--mode", "=", "observe"}, "there are spaces around '='; write --mode=VALUE"},
      {{"--config", "/dev/null", "--mode=Observe"}, "got 'Observe' (did you mean observe?)"},
      {{"--mode=observe", "--mode=enforce"}, "--mode: given a second time"},
      {{"/etc/bloomgate/bloomgate-milter.conf"}, "--config FILE names the configuration file"},
      {{"restart"}, "systemd does that: systemctl restart bloomgate-milter"},
      {{"--config", "/dev/null", "--identiy=both"}, "(did you mean --identity?)"},
      {{"revok", "joe@example.org"}, "got 'revok' (did you mean revoke?)"},
      {{"ad", "joe@example.org"}, "got 'ad' (did you mean add?)"},
      {{"suspended", "lst"}, "(did you mean list?)"},
      {{"moved", "jnk", "ann@ours.example"}, "(did you mean junk?)"},
      {{"--config", "/dev/null", "--deep-check", "rspmad:inet:11333@127.0.0.1"}, "(did you mean rspamd?)"},
      {{"--explain", "message.eml"}, "explain reads the message from standard input: < FILE"},
  };
  for (const Line& line : lines) {
    INFO(line.says);
    const BloomgateError error = error_of([&] { read_daemon_command(line.words); });
    CHECK(error.code() == ErrorCode::bad_argument);
    CHECK_THAT(error.what(), StartsWith("command line: ") && Contains(std::string(line.says)));
  }
}

}  // namespace
}  // namespace bloomgate::test
