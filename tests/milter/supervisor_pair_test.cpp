// A supervisor whose whitelist is a pair: a filter, and the store that confirms its hits.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "milter/supervisor.hpp"
#include "tests/milter/daemon_parts.hpp"
#include "tests/milter/notify_socket.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"

namespace bloomgate {
namespace {

using Catch::Contains;

// A daemon whose only whitelist has a store.
struct SupervisedPair {
  SupervisedPair() {
    install_bus_fault_handler();
    supervisor.load_first();
  }

  const LoadedFilter& in_use() const {
    kept.push_back(slot.get());
    return *kept.back()->parts().whitelists.front().filter;
  }
  // Whether the filter and the store in use are those of a build with that sender.
  bool serves(std::string_view sender) const {
    const LoadedFilter& filter = in_use();
    CHECK(filter.header().store_identity == filter.store()->identity());
    return filter.store()->find(filter.store()->hash_of(sender)) == StoreAnswer::present;
  }

  test::NotifySocket systemd;
  test::MemoryLog log;
  test::PairFiles files{{"joe@example.org"}};
  ListSources sources{.whitelists = {files.source()}};
  ListSlot slot;
  Wakeup wakeup;
  ResultsWatch results;
  Supervisor supervisor{sources, slot, wakeup, results, log.logger()};
  mutable std::vector<std::shared_ptr<const LoadedLists>> kept;
};

TEST_CASE("a filter and its store are replaced together by a reload") {
  SupervisedPair s;
  CHECK(s.serves("joe@example.org"));
  s.files.replace({"ann@example.org"});
  s.supervisor.reload();
  CHECK(s.serves("ann@example.org"));
  CHECK_THAT(s.log.text(), Contains("confirmed by " + s.files.store_path()) && Contains("below 1 in 10^9 per message"));
}

TEST_CASE(
    "a reload that finds one of the two replaced keeps the old pair, reports it, and loads the new pair when it is "
    "complete") {
  SupervisedPair s;
  const bool filter_first = GENERATE(true, false);
  CAPTURE(filter_first);
  if (filter_first) s.files.replace_filter_first({"ann@example.org"});
  if (!filter_first) s.files.replace_store_first({"ann@example.org"});
  s.supervisor.reload();
  CHECK(s.serves("joe@example.org"));
  CHECK_FALSE(s.in_use().damaged());
  CHECK_THAT(s.log.text(), Contains("error: reload refused: " + s.files.store_path() + " is not the store of ") &&
                               Contains("; still serving ") && Contains(", until the file and the store"));
  s.supervisor.reload_changed();
  CHECK(s.serves("joe@example.org"));
  if (filter_first) s.files.let_the_store_follow();
  if (!filter_first) s.files.let_the_filter_follow();
  s.supervisor.reload_changed();
  CHECK(s.serves("ann@example.org"));
  CHECK_THAT(s.systemd.last(), !Contains(", until the file and the store"));
}

TEST_CASE("a running daemon notices the second file of a pair, whichever it is") {
  SupervisedPair s;
  const bool filter_first = GENERATE(true, false);
  CAPTURE(filter_first);
  if (filter_first) s.files.replace_filter_first({"ann@example.org"});
  if (!filter_first) s.files.replace_store_first({"ann@example.org"});
  std::thread runs([&s] { s.supervisor.run(); });
  s.wakeup.post(Wakeup::kReload);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto is_logged = [&](const std::string& text, std::string_view behind = "") {
    for (;;) {
      const std::string log = s.log.text();
      const std::size_t from = log.find(behind);
      if (from != std::string::npos && log.find(text, from) != std::string::npos) return true;
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  bool is_noticed = is_logged("reload refused");
  if (filter_first) s.files.let_the_store_follow();
  if (!filter_first) s.files.let_the_filter_follow();
  is_noticed = is_noticed && is_logged("loaded " + s.files.path(), "reload refused");
  s.wakeup.post(Wakeup::kStop);
  runs.join();
  CHECK(is_noticed);
  CHECK(s.serves("ann@example.org"));
}

// Whether this process watches the folder by inotify.
bool is_watched(const std::filesystem::path& folder) {
  struct stat status = {};
  REQUIRE(stat(folder.c_str(), &status) == 0);
  std::ostringstream wanted;
  wanted << " ino:" << std::hex << status.st_ino << ' ';
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    if (test::read_file(each.path()).find(wanted.str()) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("a store in a folder of its own is watched there") {
  SupervisedPair s;
  const test::TemporaryFolder apart;
  CHECK_FALSE(is_watched(apart.path()));
  std::filesystem::copy_file(s.files.store_path(), apart.file("whitelist.store"));
  const ListSources sources = {.whitelists = {{"whitelist", s.files.path(), apart.file("whitelist.store")}}};
  Supervisor supervisor(sources, s.slot, s.wakeup, s.results, s.log.logger());
  supervisor.load_first();
  CHECK(is_watched(apart.path()));
}

TEST_CASE("a store that cannot be used is refused at the start") {
  SupervisedPair s;
  std::filesystem::remove(s.files.store_path());
  Supervisor other(s.sources, s.slot, s.wakeup, s.results, s.log.logger());
  CHECK(test::error_code_of([&] { other.load_first(); }) == ErrorCode::cannot_open);
  s.files.replace_store_first({"ann@example.org"});
  CHECK(test::error_code_of([&] { other.load_first(); }) == ErrorCode::bad_input);
}

TEST_CASE("a whitelist that may be missing is loaded once its store is there") {
  SupervisedPair s;
  std::filesystem::rename(s.files.store_path(), s.files.store_path() + ".away");
  s.sources.allow_missing = true;
  Supervisor tolerant(s.sources, s.slot, s.wakeup, s.results, s.log.logger());
  tolerant.load_first();
  CHECK(s.slot.get()->parts().whitelists.front().filter == nullptr);
  std::filesystem::rename(s.files.store_path() + ".away", s.files.store_path());
  tolerant.reload_changed();
  CHECK(s.serves("joe@example.org"));
}

TEST_CASE("a store whose header is overwritten in place makes its pair damaged at the next reload") {
  SupervisedPair s;
  const auto stamp = std::filesystem::last_write_time(s.files.store_path());
  test::flip_byte(s.files.store_path(), 20);
  std::filesystem::last_write_time(s.files.store_path(), stamp);
  s.supervisor.reload();
  CHECK(s.in_use().damaged());
}

}  // namespace
}  // namespace bloomgate
