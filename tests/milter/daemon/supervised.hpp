// Supervisors with all that they need, for the tests.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "milter/daemon/supervisor.hpp"
#include "tests/milter/daemon/notify_socket.hpp"
#include "tests/milter/daemon/running_supervisor.hpp"
#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"

namespace bloomgate::test {

// What a supervisor is made with, but its sources.
struct SupervisorParts {
  SupervisorParts() { install_bus_fault_handler(); }

  // The decision about a sender, by what is in the slot.
  Decision decision(std::string_view sender) const {
    const auto lists = slot.get();
    const Policy policy = {.identity = IdentityRule::envelope, .authentication = AuthenticationRule::off};
    const HeaderFrom from = {HeaderFromKind::one_mailbox, "somebody@example.net"};
    return decide({.envelope_sender = sender, .header_from = from}, lists->lists(), policy);
  }
  Reason reason(std::string_view sender) const { return decision(sender).reason; }

  std::shared_ptr<const LoadedFilter> filter(std::size_t which = 0) const {
    return slot.get()->parts().whitelists.at(which).filter;
  }

  // What systemd was told at the end of a reload.
  std::string status_after_reload(Supervisor& supervisor) const {
    supervisor.reload();
    CHECK_THAT(systemd.next(), StartsWith("RELOADING=1\n"));
    return systemd.next();
  }

  // Waits until that is so, and fails where it does not become so.
  template <typename Condition>
  static void await(Condition condition) {
    const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > last) FAIL("it has not become so");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  NotifySocket systemd;
  MemoryLog log;
  TemporaryFolder folder;
  ListSlot slot;
  Wakeup wakeup;
  ResultsWatch results;
};

struct Supervised : SupervisorParts {
  bool revoked(std::string_view sender) const {
    const auto lists = slot.get();
    const auto& list = lists->parts().revoked.list;
    return list != nullptr && list->find(canonicalize_path(sender)).is_listed();
  }

  WhitelistFile file{{"joe@example.org"}};
  DaemonOptions sources = list_options({{"whitelist", file.path()}});
  Supervisor supervisor{sources, slot, wakeup, results, log.logger()};
};

// A supervisor with a list of revoked entries, served by a thread until the end of the object.
struct Watched : Supervised {
  explicit Watched(std::string_view content, const char* opt_out = nullptr) {
    write_file(path, content);
    sources.revoked = path;
    sources.extra = folder.file("extra.txt");
    write_file(sources.extra, "");
    if (opt_out != nullptr) write_file(sources.opt_out = folder.file("opt-out.txt"), opt_out);
    watched = std::make_unique<Supervisor>(sources, slot, wakeup, results, log.logger());
    watched->load_first();
    runner = std::make_unique<RunningSupervisor>(*watched, wakeup);
    systemd.wait_for_next();
  }

  std::string path = folder.file("revoked.txt");
  std::unique_ptr<Supervisor> watched;
  std::unique_ptr<RunningSupervisor> runner;
};

// Runs a supervisor whose whitelist may be missing, and is. There are no exact lists but the one that is named.
struct Waiting : Supervised {
  explicit Waiting(const std::string& whitelist_path, const std::string& revoked_path = {})
      : whitelist(whitelist_path), revoked_list(revoked_path) {
    sources.whitelists = {{"whitelist", whitelist_path}};
    sources.revoked = revoked_path;
    if (!revoked_path.empty()) write_file(revoked_path, "");
    sources.allow_missing_whitelist = true;
    waiting = std::make_unique<Supervisor>(sources, slot, wakeup, results, log.logger());
    waiting->load_first();
    runner = std::make_unique<RunningSupervisor>(*waiting, wakeup);
    CHECK_THAT(systemd.wait_for_next(), StartsWith("READY=1\nSTATUS=no whitelist is loaded: all mail"));
  }

  void await(Reason wanted) const {
    Watched::await([&] { return reason("<joe@example.org>") == wanted; });
  }

  // Has something else change, and waits until it is taken in.
  void change_revoked() const {
    write_file(revoked_list, "eve@example.org\n");
    Watched::await([this] { return log.text().find("loaded 1 entry of " + revoked_list) != std::string::npos; });
  }

  std::string whitelist;
  std::string revoked_list;
  std::unique_ptr<Supervisor> waiting;
  std::unique_ptr<RunningSupervisor> runner;
};

}  // namespace bloomgate::test
