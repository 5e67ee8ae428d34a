// Reloads that take in another configuration.
#include <stdexcept>

#include "filter/base/error.hpp"
#include "milter/supervisor.hpp"
#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/notify_socket.hpp"
#include "tests/milter/running_supervisor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;
using Catch::StartsWith;

struct Configured {
  Configured() {
    install_bus_fault_handler();
    supervisor.load_first();
  }

  Reason reason(std::string_view sender) const {
    const auto lists = slot.get();
    const Policy policy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};
    const HeaderFrom from = {HeaderFromKind::one_mailbox, "somebody@example.net"};
    return decide({.envelope_sender = sender, .header_from = from}, lists->lists(), policy).reason;
  }

  // What systemd was told at the end of a reload.
  std::string status_after_reload() {
    supervisor.reload();
    CHECK_THAT(systemd.next(), StartsWith("RELOADING=1\n"));
    return systemd.next();
  }

  test::NotifySocket systemd;
  test::MemoryLog log;
  test::WhitelistFile file{{"joe@example.org"}};
  test::WhitelistFile other{{"ann@example.org"}};
  test::TemporaryFolder folder;
  ListSlot slot;
  Wakeup wakeup;
  ResultsWatch results;
  int put_into_use = 0;
  // What the configuration says now.
  std::function<NewSettings()> read = [] { return NewSettings{}; };
  ListSources sources{.whitelists = {{"whitelist", file.path()}}};
  Supervisor supervisor{sources, slot, wakeup, results, log.logger(), [this] {
                          NewSettings settings = read();
                          if (settings.sources.whitelists.empty()) settings.sources = sources;
                          settings.put_into_use = [this] { ++put_into_use; };
                          return settings;
                        }};
};

TEST_CASE("a reload applies the whole configuration: whitelists, exact lists, and all other options") {
  Configured s;
  test::write_file(s.folder.file("revoked.txt"), "joe@example.org\n");
  test::write_file(s.folder.file("extra.txt"), "eve@example.org\n");
  s.sources = {.whitelists = {{"new", s.other.path()}, {"old", s.file.path()}},
               .revoked = s.folder.file("revoked.txt"),
               .extra = s.folder.file("extra.txt"),
               .recheck_bytes_per_hour = 1 << 20};
  CHECK_THAT(s.status_after_reload(), StartsWith("READY=1\nSTATUS=serving " + s.other.path()));
  CHECK(s.put_into_use == 1);
  CHECK(s.reason("<ann@example.org>") == Reason::listed);
  CHECK(s.reason("<eve@example.org>") == Reason::listed_extra);
  CHECK(s.reason("<joe@example.org>") == Reason::revoked);
  CHECK(s.slot.get()->parts().whitelists[1].name == "old");
  CHECK_THAT(s.log.text(), !Contains("take effect at a restart"));

  s.sources = {.whitelists = {{"old", s.file.path()}}};
  s.status_after_reload();
  CHECK(s.reason("<ann@example.org>") == Reason::not_listed);
  CHECK(s.reason("<eve@example.org>") == Reason::not_listed);
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE("lists that a reload has added are watched") {
  Configured s;
  s.sources.revoked = s.folder.file("revoked.txt");
  test::write_file(s.sources.revoked, "");
  s.status_after_reload();
  const test::RunningSupervisor runner(s.supervisor, s.wakeup);
  s.systemd.wait_for_next();
  test::write_file(s.sources.revoked, "joe@example.org\n");
  CHECK_THAT(s.systemd.wait_for_next(), Contains("1 revoked entries"));
  CHECK(s.reason("<joe@example.org>") == Reason::revoked);
}

TEST_CASE("a refused configuration changes nothing, and the reload says why") {
  Configured s;
  const ListSources before = s.sources;
  std::string why;
  SECTION("it is faulty") {
    s.read = []() -> NewSettings { throw BloomgateError(ErrorCode::bad_configuration, "made up: line 3"); };
    why = "made up: line 3";
  }
  SECTION("a whitelist that is new in it cannot be used") {
    s.sources.whitelists = {{"new", s.folder.file("missing.bloom")}, {"whitelist", s.file.path()}};
    why = "missing.bloom";
  }
  SECTION("a whitelist is to be confirmed by a store that cannot be used") {
    s.sources.whitelists = {{"whitelist", s.file.path(), s.folder.file("missing.store")}};
    why = "built without a store";
  }
  SECTION("a list of revoked entries that is new in it cannot be read") {
    s.sources.revoked = s.folder.file("missing.txt");
    why = "missing.txt";
  }
  SECTION("a list of extra entries that is new in it cannot be read") {
    s.sources.extra = s.folder.file("missing.txt");
    why = "missing.txt";
  }
  const std::string status = s.status_after_reload();
  CHECK_THAT(status, StartsWith("READY=1\nSTATUS=reload refused: ") && Contains(why) &&
                         Contains("; still serving " + s.file.path()));
  CHECK(s.put_into_use == 0);
  CHECK(s.slot.get()->parts().whitelists.size() == 1);
  CHECK(s.reason("<joe@example.org>") == Reason::listed);

  s.read = [] { return NewSettings{}; };
  s.sources = before;
  CHECK_THAT(s.status_after_reload(), StartsWith("READY=1\nSTATUS=serving "));
  CHECK(s.put_into_use == 1);
}

TEST_CASE("the log does not report a list as loaded if its configuration is refused") {
  Configured s;
  s.sources.whitelists = {{"new", s.other.path()}, {"missing", s.folder.file("missing.bloom")}};
  CHECK_THAT(s.status_after_reload(), Contains("reload refused: "));
  s.sources.whitelists = {{"whitelist", s.file.path()}};
  CHECK_THAT(s.status_after_reload(), StartsWith("READY=1\nSTATUS=serving " + s.file.path()));
  CHECK_THAT(s.log.text(), !Contains("loaded " + s.other.path()));
}

TEST_CASE("a faulty configuration does not delay newly revoked entries") {
  Configured s;
  s.sources.revoked = s.folder.file("revoked.txt");
  test::write_file(s.sources.revoked, "");
  s.status_after_reload();
  s.read = []() -> NewSettings { throw std::runtime_error("made up"); };
  test::write_file(s.sources.revoked, "joe@example.org\n");
  CHECK_THAT(s.status_after_reload(), Contains("reload refused: made up; still serving "));
  CHECK(s.reason("<joe@example.org>") == Reason::revoked);
}

TEST_CASE("options that wait for a restart are named in outcome, log and status, until they are as before") {
  Configured s;
  s.read = [] { return NewSettings{.sources = {}, .wait_for_restart = {"socket", "log-target"}}; };
  CHECK_THAT(s.status_after_reload(),
             StartsWith("READY=1\nSTATUS=serving ") && Catch::EndsWith("; waits for a restart: socket, log-target"));
  CHECK_THAT(s.log.text(), Contains("warning: these options have changed and take effect at a restart only") &&
                               Contains(": socket, log-target\n"));
  CHECK(s.put_into_use == 1);
  s.read = [] { return NewSettings{}; };
  CHECK_THAT(s.status_after_reload(), !Contains("waits for a restart"));
}

}  // namespace
}  // namespace bloomgate
