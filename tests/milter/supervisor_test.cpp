#include "milter/supervisor.hpp"

#include <catch2/catch.hpp>

#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/notify_socket.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;
using Catch::StartsWith;

struct Supervised {
  Supervised() { install_bus_fault_handler(); }

  // The verdict on a sender, by what is in the slot.
  Reason reason(std::string_view sender) const { return decide({sender}, slot.get().get()).reason; }

  test::NotifySocket systemd;
  test::MemoryLog log;
  test::WhitelistFile file{{"joe@example.org"}};
  FilterSlot slot;
  Wakeup wakeup;
  Supervisor supervisor{file.path(), false, slot, wakeup, log.logger()};
};

TEST_CASE("the first load fills the slot and is logged with entries, bits, rate and seconds") {
  Supervised s;
  s.supervisor.load_first(false);
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(s.log.text(),
             Catch::Matches("info: loaded " + s.file.path() +
                            ": 1 entries, 32768 bits, expected false-positive rate .* %, in [0-9.]+ s\n"));
}

TEST_CASE("a whitelist that cannot be used ends the start, unless it may be missing") {
  Supervised s;
  std::filesystem::remove(s.file.path());
  CHECK(test::error_code_of([&] { s.supervisor.load_first(false); }) == ErrorCode::cannot_open);
  s.supervisor.load_first(true);
  CHECK(s.reason("<joe@example.org>") == Reason::no_whitelist);
  CHECK_THAT(s.log.text(), StartsWith("warning: starting without a whitelist") && Contains(s.file.path()));
}

TEST_CASE("a reload puts the new whitelist into use and tells systemd") {
  Supervised s;
  s.supervisor.load_first(false);
  s.file.replace({"ann@example.org"});
  s.supervisor.reload();
  CHECK(s.reason("<joe@example.org>") == Reason::not_listed);
  CHECK(s.reason("<ann@example.org>") == Reason::listed);
  CHECK_THAT(s.systemd.next(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  CHECK_THAT(s.systemd.next(), StartsWith("READY=1\nSTATUS=serving " + s.file.path()));
}

TEST_CASE("a reload of a bad file is refused: the old whitelist stays, and log and status say so") {
  Supervised s;
  s.supervisor.load_first(false);
  const std::string old = s.file.path() + ".old";
  std::filesystem::rename(s.file.path(), old);
  struct Case {
    std::string_view name;
    std::function<void()> make;
  };
  const Case cases[] = {
      {"missing", [] {}},
      {"not a filter", [&] { test::write_file(s.file.path(), std::string(9000, 'x')); }},
      {"cut off",
       [&] {
         s.file.replace({"ann@example.org"});
         s.file.truncate();
       }},
      {"a folder", [&] { std::filesystem::create_directory(s.file.path()); }},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    std::filesystem::remove_all(s.file.path());
    c.make();
    s.supervisor.reload();
    CHECK(s.reason("<joe@example.org>") == Reason::listed);
    CHECK_THAT(s.log.text(), Contains("error: reload refused: ") && Contains("; still serving "));
    CHECK_THAT(s.systemd.next(), StartsWith("RELOADING=1\n"));
    CHECK_THAT(s.systemd.next(), StartsWith("READY=1\nSTATUS=reload refused: ") && Contains("; still serving "));
  }
}

TEST_CASE("a reload heals a daemon that started without a whitelist, or whose whitelist was damaged") {
  Supervised s;
  SECTION("started without") {
    std::filesystem::remove(s.file.path());
    s.supervisor.load_first(true);
    s.supervisor.reload();
    CHECK(s.reason("<joe@example.org>") == Reason::no_whitelist);
  }
  SECTION("damaged") {
    s.supervisor.load_first(false);
    s.file.truncate();
    CHECK(s.reason("<joe@example.org>") == Reason::whitelist_damaged);
    s.supervisor.reload();
    CHECK(s.reason("<joe@example.org>") == Reason::whitelist_damaged);
    CHECK_THAT(s.log.text(), Contains("; still damaged: "));
  }
  s.file.replace({"joe@example.org"});
  s.supervisor.reload();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE("the supervisor says that it is ready, serves events, and says that it stops") {
  Supervised s;
  s.supervisor.load_first(false);
  SECTION("told to stop") {
    s.wakeup.post(Wakeup::kStop);
  }
  SECTION("libmilter ended by itself") {
    s.wakeup.post(Wakeup::kMilterEnded);
  }
  s.supervisor.run();
  CHECK_THAT(s.systemd.next(), StartsWith("READY=1\nSTATUS=serving "));
  CHECK(s.systemd.next() == "STOPPING=1\nSTATUS=stopping");
}

TEST_CASE("damage is logged and shown in the status") {
  Supervised s;
  s.supervisor.load_first(false);
  std::jthread runner([&] { s.supervisor.run(); });
  CHECK_THAT(s.systemd.wait_for_next(), StartsWith("READY=1\nSTATUS=serving "));
  s.file.truncate();
  CHECK(s.reason("<joe@example.org>") == Reason::whitelist_damaged);
  s.wakeup.post(Wakeup::kDamage);
  CHECK_THAT(s.systemd.wait_for_next(), StartsWith("STATUS=damaged: "));
  s.wakeup.post(Wakeup::kStop);
  runner.join();
  CHECK_THAT(s.log.text(), Contains("error: damaged: " + s.file.path()));
}

}  // namespace
}  // namespace bloomgate
