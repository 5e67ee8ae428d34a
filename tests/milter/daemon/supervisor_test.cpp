#include "milter/daemon/supervisor.hpp"

#include <sched.h>
#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/milter/daemon/supervised.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/no_descriptors.hpp"
#include "tests/support/silent_writer.hpp"

namespace bloomgate::test {
namespace {

struct Serving : Supervised {
  Serving() { supervisor.load_first(); }
};

TEST_CASE_METHOD(Serving, "the first load fills the slot and is logged with entries, bits, rate and seconds") {
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(
      log.text(),
      Matches("info: loaded " + file.path() +
              ": 1 entry, 32768 bits, expected false-positive rate below 1 in 10\\^12 per look-up, in [0-9.]+ s\n"
              "info: expected false-positive rate below 1 in 10\\^12 per message \\(identity = either\\)\n"));
}

// Whether a thread of this process gets a processor only when nobody else wants one.
bool has_idle_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string name = task.path().filename();
    pid_t id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    if (sched_getscheduler(id) == SCHED_IDLE) return true;
  }
  return false;
}

TEST_CASE_METHOD(Supervised,
                 "a large whitelist is checked at once at the start, and at a reload when a processor is idle") {
  build_filter(file.path(), {"joe@example.org"}, {.expected_entries = 80'000'000});
  std::atomic<bool> was_seen{false};
  const std::jthread watcher([&was_seen](const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (has_idle_thread()) was_seen = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // a processor for the threads that are looked for
    }
  });
  supervisor.load_first();
  CHECK_FALSE(was_seen);
  const auto reload = [this] {
    supervisor.reload();
    systemd.last();  // makes room for what the next one says
  };
  for (int reloads = 0; !was_seen && reloads < 100; ++reloads) reload();
  CHECK(was_seen);
  file.replace({"ann@example.org"});
  reload();
  while (has_idle_thread()) std::this_thread::yield();  // one of the last check may come late, and finds nothing to do
  was_seen = false;
  for (int reloads = 0; reloads < 20; ++reloads) reload();
  CHECK_FALSE(was_seen);  // a small one is checked before anybody would notice
}

TEST_CASE_METHOD(Supervised, "a whitelist that cannot be used ends the start, unless it may be missing") {
  std::filesystem::remove(file.path());
  CHECK(error_code_of([&] { supervisor.load_first(); }) == ErrorCode::cannot_open);
  sources.allow_missing_whitelist = true;
  Supervisor tolerant(sources, slot, wakeup, results, log.logger());
  tolerant.load_first();
  CHECK(reason("<joe@example.org>") == Reason::no_whitelist);
  CHECK_THAT(log.text(), StartsWith("warning: starting without a whitelist") && Contains(file.path()));
}

TEST_CASE_METHOD(Serving, "a reload puts the new whitelist into use and notifies systemd") {
  file.replace({"ann@example.org"});
  supervisor.reload();
  CHECK(reason("<joe@example.org>") == Reason::not_listed);
  CHECK(reason("<ann@example.org>") == Reason::listed);
  CHECK_THAT(systemd.next(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  CHECK_THAT(systemd.next(), StartsWith("READY=1\nSTATUS=serving " + file.path()));
}

// Calls back within the call that logs a line.
class LineWatcher : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LineWatcher(std::function<void(std::string_view)> seen) : seen_(std::move(seen)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    seen_({message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

  const std::function<void(std::string_view)> seen_;
};

TEST_CASE_METHOD(Supervised, "a list is reported as loaded once messages are decided by it") {
  sources.revoked = folder.file("revoked.txt");
  write_file(sources.revoked, "eve@example.org\n");
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  std::vector<bool> are_in_use;
  log.logger()->sinks().push_back(std::make_shared<LineWatcher>([&](std::string_view line) {
    if (!line.starts_with("loaded ")) return;
    are_in_use.push_back(reason("<ann@example.org>") == Reason::listed && revoked("<joe@example.org>"));
  }));
  file.replace({"ann@example.org"});
  write_file(sources.revoked, "joe@example.org\n");
  another.reload();
  CHECK(are_in_use == std::vector<bool>{true, true});
}

TEST_CASE_METHOD(Serving, "a reload of a bad file is refused: the old whitelist stays, and log and status say so") {
  const std::string old = file.path() + ".old";
  std::filesystem::rename(file.path(), old);
  struct Case {
    std::string_view name;
    std::function<void()> make;
  };
  const Case cases[] = {
      {"missing", [] {}},
      {"not a filter", [&] { write_file(file.path(), std::string(9000, 'x')); }},
      {"cut off",
       [&] {
         file.replace({"ann@example.org"});
         file.truncate();
       }},
      {"a folder", [&] { std::filesystem::create_directory(file.path()); }},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    std::filesystem::remove_all(file.path());
    c.make();
    supervisor.reload();
    CHECK(reason("<joe@example.org>") == Reason::listed);
    CHECK_THAT(log.text(), Contains("error: reload refused: ") && Contains("; still serving "));
    CHECK_THAT(systemd.next(), StartsWith("RELOADING=1\n"));
    CHECK_THAT(systemd.next(), StartsWith("READY=1\nSTATUS=reload refused: ") && Contains("; still serving "));
  }
}

// Addresses that differ.
std::vector<std::string> so_many(std::size_t count) {
  std::vector<std::string> entries = {"joe@example.org"};
  while (entries.size() < count) entries.push_back("user" + std::to_string(entries.size()) + "@example.org");
  return entries;
}

TEST_CASE_METHOD(Supervised, "a whitelist that shrinks below a tenth is refused, unless that is allowed") {
  const bool is_reload = GENERATE(true, false);
  file.replace(so_many(21));
  supervisor.load_first();
  const auto take = [is_reload](Supervisor& each) { is_reload ? each.reload() : each.reload_changed(); };
  for (const std::size_t entries : {std::size_t{0}, std::size_t{2}}) {
    file.replace(entries == 0 ? std::vector<std::string>{} : so_many(entries));
    take(supervisor);
    CHECK(reason("<user20@example.org>") == Reason::listed);
    CHECK_THAT(log.text(), Contains("has " + std::to_string(entries) +
                                    " entries, less than a tenth of the 21 in use; if that is meant, set "
                                    "allow-shrunken-whitelist = yes"));
  }
  CHECK_THAT(log.text(), !Contains("loaded " + file.path() + ": 2 entries"));
  CHECK_THAT(systemd.last(), !Contains("damaged"));
  file.replace(so_many(3));
  take(supervisor);
  CHECK(reason("<user20@example.org>") == Reason::not_listed);
  sources.allow_shrunken_whitelist = true;
  Supervisor allowing(sources, slot, wakeup, results, log.logger());
  allowing.load_first();
  file.replace({});
  take(allowing);
  CHECK(reason("<joe@example.org>") == Reason::not_listed);
}

TEST_CASE_METHOD(Supervised, "a reload gives a whitelist to a daemon that has none, or only a damaged one") {
  SECTION("started without") {
    std::filesystem::remove(file.path());
    sources.allow_missing_whitelist = true;
    Supervisor(sources, slot, wakeup, results, log.logger()).load_first();
    supervisor.reload();
    CHECK(reason("<joe@example.org>") == Reason::no_whitelist);
  }
  SECTION("damaged") {
    supervisor.load_first();
    file.truncate();
    CHECK(reason("<joe@example.org>") == Reason::whitelist_damaged);
    supervisor.reload();
    CHECK(reason("<joe@example.org>") == Reason::whitelist_damaged);
    CHECK_THAT(log.text(), Contains("; still damaged: "));
  }
  file.replace({"joe@example.org"});
  supervisor.reload();
  CHECK(reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE_METHOD(Supervised,
                 "a whitelist that is written to in place is damaged at once, and says so without a message") {
  make_old(file.path());
  supervisor.load_first();
  RunningSupervisor runner(supervisor, wakeup);
  CHECK_THAT(systemd.wait_for_next(), StartsWith("READY=1\nSTATUS=serving "));
  const std::string content = read_file(file.path());
  write_file(file.path(), content.substr(0, kHeaderBytes) + std::string(content.size() - kHeaderBytes, '\xff'));
  CHECK(reason("<stranger@example.net>") == Reason::whitelist_damaged);
  CHECK_THAT(systemd.wait_for_next(), StartsWith("STATUS=damaged: " + file.path() + " was changed in place"));
  runner.end();
  CHECK_THAT(log.text(), Contains("error: damaged: " + file.path()));
}

TEST_CASE_METHOD(Supervised,
                 "a reload that finds the file in use bad marks it as damaged, and a bad new file does not") {
  // What is written there leaves no sign but the bytes: see SilentWriter.
  const SilentWriter writer(file.path(), kHeaderBytes);
  supervisor.load_first();
  writer.flip();
  CHECK(reason("<joe@example.org>") == Reason::listed);
  SECTION("the file in use") {
    supervisor.reload();
    CHECK(reason("<joe@example.org>") == Reason::whitelist_damaged);
    CHECK_THAT(log.text(), Contains("error: reload refused: ") && Contains("; still damaged: "));
  }
  SECTION("another one") {
    std::filesystem::remove(file.path());
    write_file(file.path(), "no filter");
    supervisor.reload();
    CHECK(reason("<joe@example.org>") == Reason::listed);
    CHECK_THAT(log.text(), Contains("error: reload refused: ") && Contains("; still serving "));
  }
}

#ifndef __SANITIZE_ADDRESS__  // See NoDescriptors.
TEST_CASE_METHOD(Serving, "a reload that cannot open the file in use keeps it, without calling it damaged") {
  {
    const NoDescriptors none;
    supervisor.reload();
  }
  CHECK(reason("<joe@example.org>") == Reason::listed);
  CHECK_THAT(log.text(), Contains("error: reload refused: open ") && Contains("; still serving "));
}
#endif

TEST_CASE_METHOD(Serving, "the supervisor says that it is ready, serves events, and says that it stops") {
  bool was_told = true;
  SECTION("told to stop") {
    wakeup.post(Wakeup::kStop);
  }
  SECTION("libmilter ended by itself") {
    wakeup.post(Wakeup::kMilterEnded);
    was_told = false;
  }
  SECTION("libmilter ended by itself, and then it was told to stop") {
    wakeup.post(Wakeup::kMilterEnded | Wakeup::kStop);
    was_told = false;
  }
  CHECK(supervisor.run() == was_told);
  CHECK_THAT(systemd.next(), StartsWith("READY=1\nSTATUS=serving "));
  CHECK(systemd.next() == "STOPPING=1\nSTATUS=stopping");
}

TEST_CASE_METHOD(
    Supervised, "if one of several whitelists is refused at a reload, it stays as it was and the others are replaced") {
  const WhitelistFile other({"ann@example.org"});
  sources.whitelists.push_back({"other", other.path()});
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  std::filesystem::remove(file.path());
  other.replace({"eve@example.org"});
  another.reload();
  const auto lists = slot.get();
  CHECK(lists->parts().whitelists[0].filter->view().may_contain("joe@example.org"));
  CHECK(lists->parts().whitelists[1].filter->view().may_contain("eve@example.org"));
  CHECK_FALSE(lists->parts().whitelists[1].filter->view().may_contain("ann@example.org"));
  CHECK_THAT(log.text(), Contains("error: reload refused: ") && Contains(file.path()));
}

TEST_CASE("a whitelist that was missing at the start is used as soon as it exists") {
  const TemporaryFolder place{SilentWriter::quiet_place()};
  Waiting s(place.file("inner/whitelist.bloom"));
  CHECK(s.reason("<joe@example.org>") == Reason::no_whitelist);
  // Its folder comes first, and something that is no filter yet.
  std::filesystem::create_directory(place.file("inner"));
  write_file(s.whitelist, "half a filter");
  Watched::await([&] { return s.log.text().find("is there and cannot be used") != std::string::npos; });
  CHECK(s.reason("<joe@example.org>") == Reason::no_whitelist);
  std::filesystem::rename(s.file.path(), s.whitelist);
  s.await(Reason::listed);
  std::string status;
  while (!StartsWith("STATUS=serving ").match(status)) status = s.systemd.wait_for_next();
  CHECK_THAT(status, Contains(s.whitelist));
}

TEST_CASE("a file that replaces the whitelist in use is loaded, and a bad one is refused once") {
  const TemporaryFolder place{SilentWriter::quiet_place()};
  Waiting s(place.file("whitelist.bloom"), place.file("revoked.txt"));
  std::filesystem::copy_file(s.file.path(), s.whitelist);
  s.await(Reason::listed);
  const auto refusals = [&s] {
    const std::string log = s.log.text();
    std::size_t count = 0;
    for (std::size_t at = log.find("error: "); at != std::string::npos; at = log.find("error: ", at + 1)) ++count;
    return count;
  };

  const std::size_t before = refusals();
  const std::string bad = place.file("bad.bloom");
  write_file(bad, "half a filter");
  std::filesystem::rename(bad, s.whitelist);
  Watched::await([&] { return refusals() == before + 1; });
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
  // Whatever else changes, it is not read again.
  s.change_revoked();
  CHECK(refusals() == before + 1);

  s.file.replace({"ann@example.org"});
  std::filesystem::rename(s.file.path(), s.whitelist);
  Watched::await([&] { return s.reason("<ann@example.org>") == Reason::listed; });
  CHECK(s.reason("<joe@example.org>") == Reason::not_listed);
  CHECK(refusals() == before + 1);
}

TEST_CASE("a removed whitelist continues to serve") {
  const TemporaryFolder place{SilentWriter::quiet_place()};
  Waiting s(place.file("whitelist.bloom"), place.file("revoked.txt"));
  std::filesystem::copy_file(s.file.path(), s.whitelist);
  s.await(Reason::listed);
  std::filesystem::remove(s.whitelist);
  s.change_revoked();
  CHECK(s.reason("<joe@example.org>") == Reason::listed);
}

TEST_CASE("a whitelist behind a link to its folder is loaded again when the link leads elsewhere") {
  const TemporaryFolder place{SilentWriter::quiet_place()};
  std::filesystem::create_directory(place.file("monday"));
  std::filesystem::create_directory(place.file("tuesday"));
  std::filesystem::create_directory_symlink("monday", place.file("today"));
  Waiting s(place.file("today/whitelist.bloom"));
  std::filesystem::copy_file(s.file.path(), s.whitelist);
  s.await(Reason::listed);
  s.file.replace({"ann@example.org"});
  std::filesystem::copy_file(s.file.path(), place.file("tuesday/whitelist.bloom"));
  std::filesystem::create_directory_symlink("tuesday", place.file("next"));
  std::filesystem::rename(place.file("next"), place.file("today"));
  Watched::await([&] { return s.reason("<ann@example.org>") == Reason::listed; });
}

TEST_CASE("missing trusted results are logged and shown in the status, and so is their return") {
  Watched s("");
  const auto note = [&s](bool had_results) {
    if (s.results.note(had_results)) s.wakeup.post(Wakeup::kResults);
  };
  for (unsigned i = 0; i < ResultsWatch::kMissedUntilWarning; ++i) note(false);
  CHECK_THAT(s.systemd.wait_for_next(), Contains("set trusted-authserv-id") && Contains("; serving "));
  CHECK_THAT(s.log.text(), Contains("warning: no message of the last 1000 had") && !Contains("arrive again"));
  note(true);
  CHECK_THAT(s.systemd.wait_for_next(), StartsWith("STATUS=serving ") && !Contains("trusted-authserv-id"));
  CHECK_THAT(s.log.text(), Contains("arrive again"));
}

TEST_CASE_METHOD(Serving, "damage is logged and shown in the status") {
  RunningSupervisor runner(supervisor, wakeup);
  CHECK_THAT(systemd.wait_for_next(), StartsWith("READY=1\nSTATUS=serving "));
  file.truncate();
  CHECK(reason("<joe@example.org>") == Reason::whitelist_damaged);
  wakeup.post(Wakeup::kDamage);
  CHECK_THAT(systemd.wait_for_next(), StartsWith("STATUS=damaged: "));
  runner.end();
  CHECK_THAT(log.text(), Contains("error: damaged: " + file.path()));
}

}  // namespace
}  // namespace bloomgate::test
