// A supervisor whose whitelist is a pair: a filter, and the store that confirms its hits.
#include <sys/stat.h>

#include <filesystem>
#include <sstream>

#include "milter/daemon/supervisor.hpp"
#include "tests/milter/daemon/supervised.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"

namespace bloomgate::test {
namespace {

// A daemon whose only whitelist has a store.
struct SupervisedPair : SupervisorParts {
  SupervisedPair() { supervisor.load_first(); }

  // Whether the filter and the store in use are those of a build with that sender.
  bool serves(std::string_view sender) const {
    const auto in_use = filter();
    CHECK(in_use->header().store_identity == in_use->store()->identity());
    return in_use->store()->find(in_use->store()->hash_of(sender)) == StoreAnswer::present;
  }

  PairFiles files{{"joe@example.org"}};
  DaemonOptions sources = list_options({files.source()});
  Supervisor supervisor{sources, slot, wakeup, results, log.logger()};
};

TEST_CASE_METHOD(SupervisedPair, "a filter and its store are replaced together by a reload") {
  CHECK(serves("joe@example.org"));
  files.replace({"ann@example.org"});
  supervisor.reload();
  CHECK(serves("ann@example.org"));
  CHECK_THAT(log.text(), Contains("confirmed by " + files.store_path()) && Contains("below 1 in 10^9 per message"));
}

TEST_CASE_METHOD(
    SupervisedPair,
    "a reload that finds one of the two replaced keeps the old pair, reports it, and loads the new pair when it is "
    "complete") {
  const bool filter_first = GENERATE(true, false);
  CAPTURE(filter_first);
  files.replace_one(filter_first, {"ann@example.org"});
  supervisor.reload();
  CHECK(serves("joe@example.org"));
  CHECK_FALSE(filter()->damaged());
  CHECK_THAT(log.text(), Contains("error: reload refused: " + files.store_path() + " is not the store of ") &&
                             Contains("; still serving ") && Contains(", until the file and the store"));
  supervisor.reload_changed();
  CHECK(serves("joe@example.org"));
  files.let_the_other_follow(filter_first);
  supervisor.reload_changed();
  CHECK(serves("ann@example.org"));
  CHECK_THAT(systemd.last(), !Contains(", until the file and the store"));
}

TEST_CASE_METHOD(SupervisedPair, "a running daemon notices the second file of a pair, whichever it is") {
  const bool filter_first = GENERATE(true, false);
  CAPTURE(filter_first);
  files.replace_one(filter_first, {"ann@example.org"});
  RunningSupervisor runs(supervisor, wakeup);
  wakeup.post(Wakeup::kReload);
  await([this] { return log.text().find("reload refused") != std::string::npos; });
  files.let_the_other_follow(filter_first);
  await([this] {
    const std::string text = log.text();
    return text.find("loaded " + files.path(), text.find("reload refused")) != std::string::npos;
  });
  runs.end();
  CHECK(serves("ann@example.org"));
}

// Whether this process watches the folder by inotify.
bool is_watched(const std::filesystem::path& folder) {
  struct stat status = {};
  REQUIRE(stat(folder.c_str(), &status) == 0);
  std::ostringstream wanted;
  wanted << " ino:" << std::hex << status.st_ino << ' ';
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    if (read_file(each.path()).find(wanted.str()) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE_METHOD(SupervisedPair, "a store in a folder of its own is watched there") {
  const TemporaryFolder apart;
  CHECK_FALSE(is_watched(apart.path()));
  std::filesystem::copy_file(files.store_path(), apart.file("whitelist.store"));
  sources = list_options({{"whitelist", files.path(), apart.file("whitelist.store")}});
  Supervisor another(sources, slot, wakeup, results, log.logger());
  another.load_first();
  CHECK(is_watched(apart.path()));
}

TEST_CASE_METHOD(SupervisedPair, "a store that cannot be used is refused at the start") {
  std::filesystem::remove(files.store_path());
  Supervisor other(sources, slot, wakeup, results, log.logger());
  CHECK(error_code_of([&] { other.load_first(); }) == ErrorCode::cannot_open);
  files.replace_one(false, {"ann@example.org"});
  CHECK(error_code_of([&] { other.load_first(); }) == ErrorCode::bad_input);
}

TEST_CASE_METHOD(SupervisedPair, "a whitelist that may be missing is loaded once its store is there") {
  std::filesystem::rename(files.store_path(), files.store_path() + ".away");
  sources.allow_missing_whitelist = true;
  Supervisor tolerant(sources, slot, wakeup, results, log.logger());
  tolerant.load_first();
  CHECK(slot.get()->parts().whitelists.front().filter == nullptr);
  std::filesystem::rename(files.store_path() + ".away", files.store_path());
  tolerant.reload_changed();
  CHECK(serves("joe@example.org"));
}

TEST_CASE_METHOD(SupervisedPair,
                 "a store whose header is overwritten in place makes its pair damaged at the next reload") {
  const auto stamp = std::filesystem::last_write_time(files.store_path());
  flip_byte(files.store_path(), 20);
  std::filesystem::last_write_time(files.store_path(), stamp);
  supervisor.reload();
  CHECK(filter()->damaged());
}

}  // namespace
}  // namespace bloomgate::test
