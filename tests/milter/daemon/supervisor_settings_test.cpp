// Reloads that take in another configuration.
#include <stdexcept>

#include "filter/base/error.hpp"
#include "milter/daemon/supervisor.hpp"
#include "tests/milter/daemon/supervised.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {
namespace {

struct Configured : SupervisorParts {
  Configured() { supervisor.load_first(); }

  WhitelistFile file{{"joe@example.org"}};
  WhitelistFile other{{"ann@example.org"}};
  int put_into_use = 0;
  // What the configuration says now.
  std::function<NewSettings()> read = [] { return NewSettings{}; };
  DaemonOptions sources = list_options({{"whitelist", file.path()}});
  Supervisor supervisor{sources, slot, wakeup, results, log.logger(), [this] {
                          NewSettings settings = read();
                          if (settings.options.whitelists.empty()) settings.options = sources;
                          settings.put_into_use = [this] { ++put_into_use; };
                          return settings;
                        }};
};

TEST_CASE_METHOD(Configured,
                 "a reload applies the whole configuration: whitelists, exact lists, and all other options") {
  write_file(folder.file("revoked.txt"), "joe@example.org\n");
  write_file(folder.file("extra.txt"), "eve@example.org\n");
  sources = list_options({{"new", other.path()}, {"old", file.path()}});
  sources.revoked = folder.file("revoked.txt");
  sources.extra = folder.file("extra.txt");
  sources.recheck_bytes_per_hour = 1 << 20;
  CHECK_THAT(status_after_reload(supervisor), StartsWith("READY=1\nSTATUS=serving " + other.path()));
  CHECK(put_into_use == 1);
  CHECK(reason("<ann@example.org>") == Reason::listed);
  CHECK(reason("<eve@example.org>") == Reason::listed_extra);
  CHECK(reason("<joe@example.org>") == Reason::revoked);
  CHECK(slot.get()->parts().whitelists[1].name == "old");
  CHECK_THAT(log.text(), !Contains("take effect at a restart"));

  sources = list_options({{"old", file.path()}});
  status_after_reload(supervisor);
  CHECK(reason("<ann@example.org>") == Reason::not_listed);
  CHECK(reason("<eve@example.org>") == Reason::not_listed);
  CHECK(reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE_METHOD(Configured, "lists that a reload has added are watched") {
  sources.revoked = folder.file("revoked.txt");
  write_file(sources.revoked, "");
  status_after_reload(supervisor);
  const RunningSupervisor runner(supervisor, wakeup);
  systemd.wait_for_next();
  write_file(sources.revoked, "joe@example.org\n");
  CHECK_THAT(systemd.wait_for_next(), Contains("1 revoked entry"));
  CHECK(reason("<joe@example.org>") == Reason::revoked);
}

TEST_CASE_METHOD(Configured, "a refused configuration changes nothing, and the reload says why") {
  const DaemonOptions before = sources;
  std::string why;
  SECTION("it is faulty") {
    read = []() -> NewSettings { throw BloomgateError(ErrorCode::bad_configuration, "made up: line 3"); };
    why = "made up: line 3";
  }
  SECTION("a whitelist that is new in it cannot be used") {
    sources.whitelists = {{"new", folder.file("missing.bloom")}, {"whitelist", file.path()}};
    why = "missing.bloom";
  }
  SECTION("a whitelist is to be confirmed by a store that cannot be used") {
    sources.whitelists = {{"whitelist", file.path(), folder.file("missing.store")}};
    why = "built without a store";
  }
  SECTION("a list of revoked entries that is new in it cannot be read") {
    sources.revoked = folder.file("missing.txt");
    why = "missing.txt";
  }
  SECTION("a list of extra entries that is new in it cannot be read") {
    sources.extra = folder.file("missing.txt");
    why = "missing.txt";
  }
  const std::string status = status_after_reload(supervisor);
  CHECK_THAT(status, StartsWith("READY=1\nSTATUS=reload refused: ") && Contains(why) &&
                         Contains("; still serving " + file.path()));
  CHECK(put_into_use == 0);
  CHECK(slot.get()->parts().whitelists.size() == 1);
  CHECK(reason("<joe@example.org>") == Reason::listed);

  read = [] { return NewSettings{}; };
  sources = before;
  CHECK_THAT(status_after_reload(supervisor), StartsWith("READY=1\nSTATUS=serving "));
  CHECK(put_into_use == 1);
}

TEST_CASE_METHOD(Configured, "the log does not report a list as loaded if its configuration is refused") {
  sources.whitelists = {{"new", other.path()}, {"missing", folder.file("missing.bloom")}};
  CHECK_THAT(status_after_reload(supervisor), Contains("reload refused: "));
  sources.whitelists = {{"whitelist", file.path()}};
  CHECK_THAT(status_after_reload(supervisor), StartsWith("READY=1\nSTATUS=serving " + file.path()));
  CHECK_THAT(log.text(), !Contains("loaded " + other.path()));
}

TEST_CASE_METHOD(Configured, "a faulty configuration does not delay newly revoked entries") {
  sources.revoked = folder.file("revoked.txt");
  write_file(sources.revoked, "");
  status_after_reload(supervisor);
  read = []() -> NewSettings { throw std::runtime_error("made up"); };
  write_file(sources.revoked, "joe@example.org\n");
  CHECK_THAT(status_after_reload(supervisor), Contains("reload refused: made up; still serving "));
  CHECK(reason("<joe@example.org>") == Reason::revoked);
}

TEST_CASE_METHOD(Configured,
                 "options that wait for a restart are named in outcome, log and status, until they are as before") {
  read = [] { return NewSettings{.options = {}, .wait_for_restart = {"socket", "log-target"}}; };
  CHECK_THAT(status_after_reload(supervisor),
             StartsWith("READY=1\nSTATUS=waits for a restart: socket, log-target; serving "));
  CHECK_THAT(log.text(), Contains("warning: these options have changed and take effect at a restart only") &&
                             Contains(": socket, log-target\n"));
  CHECK(put_into_use == 1);
  read = [] { return NewSettings{}; };
  CHECK_THAT(status_after_reload(supervisor), !Contains("waits for a restart"));
}

}  // namespace
}  // namespace bloomgate::test
