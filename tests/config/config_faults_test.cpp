// Configurations that cannot be used, or only by a command that needs none: how all of that is told.
#include "config/config_error.hpp"
#include "config/daemon_options.hpp"
#include "tests/config/written_config.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("all faults of a file are reported at once in the order of their lines, each cut to one line") {
  const Config config("mode = off\nsokcet = unix:/s\nidentity = both\nmetrics = " + std::string(500, 'x') +
                      "\nwords\nmode = observe\nlearn = outbound\nwhitelist = a=/a\nconfirm = b=/b\n");
  try {
    config.read();
    FAIL("it was taken");
  } catch (const ConfigErrors& errors) {
    const std::vector<std::string>& texts = errors.texts();
    REQUIRE(texts.size() == 7);
    CHECK_THAT(texts[0], Contains(": learn: it needs your own domains"));
    CHECK_THAT(texts[1], Contains(":1: mode: expected one of enforce, observe, got 'off'"));
    CHECK_THAT(texts[2], Contains(":2: sokcet: ") && Contains("did you mean socket?"));
    CHECK_THAT(texts[3], Contains(":4: metrics: ") && Contains("xxx...'") && !Contains(std::string(100, 'x')));
    CHECK_THAT(texts[4], Contains(":5: expected 'name = value', got 'words'"));
    CHECK_THAT(texts[5], Contains(":6: mode: given a second time (the first is in line 1)"));
    CHECK_THAT(texts[6], Contains(":9: confirm: expected the name of a whitelist (a)"));
    CHECK(errors.code() == ErrorCode::bad_configuration);
  }
}

TEST_CASE("for a file of another kind only the first faults are reported, with the number of the others") {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "some words\n";
  const Config config(text);
  try {
    config.read();
    FAIL("it was taken");
  } catch (const ConfigErrors& errors) {
    REQUIRE(errors.texts().size() == ConfigFaults::kMostTold + 1);
    CHECK(errors.texts().back() == "2980 more; is it the right file?");
  }
}

TEST_CASE("a line may end with CR, and an option after a comment counts") {
  CHECK(Config("# the whole\rmode = observe\r").read().options.mode == Mode::observe);
  CHECK(Config("# a line\rmode = observe\nidentity = both\r\n").read().options.identity == IdentityRule::both);
  CHECK_THROWS_WITH(Config("mode = observe\rsokcet = /s\r").read(), Contains(":2: sokcet: "));
}

TEST_CASE("a file that is too large for a configuration, or endless, is refused") {
  CHECK_THROWS_WITH(read_daemon_command({"--config", "/dev/zero"}),
                    Contains("/dev/zero: expected a configuration file"));
}

TEST_CASE("a log can be searched without a configuration, but not without a subject") {
  const DaemonCommand command = read_daemon_command({"why", "4XyZ1", "--config", "/nonexistent", "--log", "-"});
  CHECK(command.action == DaemonCommand::Action::why);
  CHECK_THAT(command.why.config_fault, Contains("/nonexistent: the configuration file cannot be opened"));
  for (const char* const subject : {"", " ", "joe@", "<joe@>", "@"}) {
    INFO(subject);
    CHECK_THROWS_WITH(read_daemon_command({"why", subject, "--config", "/dev/null"}),
                      Contains("an address or @domain"));
  }
}

}  // namespace
}  // namespace bloomgate::test
