#include "milter/lists/filter_guard.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <future>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/silent_writer.hpp"

namespace bloomgate::test {
namespace {

constexpr std::uint64_t kFast = std::uint64_t{1} << 40;          // bytes an hour: a chunk in 4 ms
constexpr std::uint64_t kFastest = ~std::uint64_t{0};            // without a pause
constexpr std::uint64_t kSlow = 3600 * 5 * kChecksumChunkBytes;  // a chunk in 200 ms
constexpr std::uint64_t kFourChunks = 3'670'016;                 // entries, at 8 bits each

// A guard, and how often it has reported damage.
struct Guarded {
  explicit Guarded(std::uint64_t bytes_per_hour = 0) : guard(bytes_per_hour, [this] { ++reports; }) {
    install_bus_fault_handler();
  }

  std::shared_ptr<const LoadedFilter> load(const std::string& name, std::uint64_t entries = 100) const {
    make_old(build(name, entries));
    return load_again(name);
  }
  // Of which a byte can be changed without a sign.
  std::string build(const std::string& name, std::uint64_t entries = 100) const {
    build_filter(folder.file(name), {"joe@example.org"}, {.expected_entries = entries, .seed = 42});
    return folder.file(name);
  }
  std::shared_ptr<const LoadedFilter> load_again(const std::string& name) const {
    return std::make_shared<const LoadedFilter>(folder.file(name), false);
  }

  // The test's own time limit ends it where they never come.
  void await_reports(int count) const {
    while (reports < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(reports == count);
  }

  TemporaryFolder folder{SilentWriter::quiet_place()};
  std::atomic<int> reports{0};
  FilterGuard guard;
};

// A guard whose thread stands still at its first report until it is let go.
struct HeldGuard {
  explicit HeldGuard(std::uint64_t bytes_per_hour = 0)
      : guard(bytes_per_hour, [this] {
          if (++calls == 1) may_go_on.get_future().wait();
        }) {}

  void await_call(int number) const {
    while (calls < number) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::promise<void> may_go_on;
  std::atomic<int> calls{0};
  FilterGuard guard;
};

TEST_CASE_METHOD(Guarded,
                 "a write to a whitelist in place is noticed at once, without a look-up and without rechecks") {
  const auto loaded = load("a");
  guard.watch({nullptr, loaded});
  const std::string path = loaded->path();
  SECTION("one bit") {
    flip_byte(path, kHeaderBytes);
  }
  SECTION("truncated") {
    std::filesystem::resize_file(path, kHeaderBytes);
  }
  SECTION("longer") {
    std::ofstream(path, std::ios::app) << 'x';
  }
  SECTION("written anew, with what it had") {
    write_file(path, read_file(path));
  }
  SECTION("its time changed") {
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0);
  }
  await_reports(1);
  CHECK(loaded->damage() == Damage::written_to);
}

TEST_CASE_METHOD(Guarded, "a write is noticed even if the file's time is reset afterwards") {
  HeldGuard held;
  const auto loaded = load("a");
  const auto other = load("other");
  held.guard.watch({loaded, other});
  flip_byte(other->path(), kHeaderBytes);
  held.await_call(1);
  struct stat before = {};
  REQUIRE(stat(loaded->path().c_str(), &before) == 0);
  const timespec times[] = {before.st_atim, before.st_mtim};
  flip_byte(loaded->path(), kHeaderBytes);
  REQUIRE(utimensat(AT_FDCWD, loaded->path().c_str(), times, 0) == 0);
  held.may_go_on.set_value();
  held.await_call(2);
  CHECK(loaded->damage() == Damage::written_to);
}

TEST_CASE_METHOD(Guarded, "a write between the load and the watch is noticed") {
  const auto loaded = load("a");
  flip_byte(loaded->path(), kHeaderBytes);
  guard.watch({loaded});
  await_reports(1);
}

TEST_CASE("a file that is renamed, replaced or removed continues to serve") {
  Guarded guarded(kFast);
  const auto loaded = guarded.load("a");
  const auto other = guarded.load("other");
  guarded.guard.watch({loaded, other});
  std::filesystem::rename(loaded->path(), guarded.folder.file("b"));
  build_filter(guarded.folder.file("b"), {"ann@example.org"});
  std::filesystem::remove(guarded.folder.file("b"));
  flip_byte(other->path(), kHeaderBytes);  // its event comes after those of the first
  guarded.await_reports(1);
  CHECK(other->damaged());
  CHECK_FALSE(loaded->damaged());
}

TEST_CASE("the recheck finds a bit that flips without an event, in any chunk of any whitelist") {
  Guarded guarded(kFast);
  const auto first = guarded.load("first", kFourChunks);
  const auto chunk = GENERATE(std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{3});
  const SilentWriter writer(guarded.build("second", kFourChunks), kHeaderBytes + chunk * kChecksumChunkBytes);
  const auto second = guarded.load_again("second");
  guarded.guard.watch({first, second});
  writer.flip();
  CHECK(second->file().state() == MappedFilter::State::whole);  // as far as the file's times tell
  guarded.await_reports(1);
  CHECK(second->damage() == Damage::spoiled);
  CHECK_FALSE(first->damaged());
}

TEST_CASE("a bit that flips without an event stays unnoticed until the next recheck") {
  Guarded guarded(GENERATE(std::uint64_t{0}, std::uint64_t{1}));
  const SilentWriter writer(guarded.build("a"), kHeaderBytes);
  const auto silent = guarded.load_again("a");
  const auto other = guarded.load("other");
  const auto third = guarded.load("third");
  guarded.guard.watch({silent, other, third});
  writer.flip();
  flip_byte(other->path(), kHeaderBytes);
  guarded.await_reports(1);
  flip_byte(third->path(), kHeaderBytes);
  guarded.await_reports(2);
  CHECK_FALSE(silent->damaged());
}

TEST_CASE("rechecks keep to the configured pace") {
  Guarded guarded(kSlow);
  const SilentWriter writer(guarded.build("a", kFourChunks), kHeaderBytes + 2 * kChecksumChunkBytes);
  const auto loaded = guarded.load_again("a");
  const auto begin = std::chrono::steady_clock::now();
  guarded.guard.watch({loaded});
  writer.flip();
  guarded.await_reports(1);
  const auto took = std::chrono::steady_clock::now() - begin;
  // The first was due 200 ms after the guard was made, the third 400 ms later.
  CHECK(took >= std::chrono::milliseconds(400));
  CHECK(took < std::chrono::milliseconds(3'500));
}

TEST_CASE("rechecks without a pause also check files that are loaded later") {
  Guarded guarded(kFastest);
  const SilentWriter writer(guarded.build("a", kFourChunks), kHeaderBytes);
  const auto loaded = guarded.load_again("a");
  guarded.guard.watch({loaded});
  writer.flip();
  guarded.await_reports(1);
}

TEST_CASE("rechecks start over at the first whitelist when other files are watched") {
  Guarded guarded(kSlow);
  const SilentWriter writer(guarded.build("b"), kHeaderBytes);
  const SilentWriter later_writer(guarded.build("c"), kHeaderBytes);
  const auto a = guarded.load("a");
  const auto b = guarded.load_again("b");
  const auto c = guarded.load_again("c");
  guarded.guard.watch({a, b, a});
  writer.flip();
  guarded.await_reports(1);  // the third would be next
  guarded.guard.watch({c});
  later_writer.flip();
  guarded.await_reports(2);
  CHECK(c->damage() == Damage::spoiled);
}

TEST_CASE_METHOD(Guarded, "damage that was reported is not reported again") {
  const auto loaded = load("a");
  guard.watch({loaded});
  flip_byte(loaded->path(), kHeaderBytes);
  await_reports(1);
  guard.watch({loaded});
  CHECK(reports == 1);
}

TEST_CASE_METHOD(Guarded, "a whitelist that is not watched any longer is not reported") {
  const auto before = load("before");
  const auto after = load("after");
  guard.watch({before});
  guard.watch({after});
  flip_byte(before->path(), kHeaderBytes);
  flip_byte(after->path(), kHeaderBytes);
  await_reports(1);
  CHECK(before->first_to_report_damage());
}

TEST_CASE_METHOD(Guarded, "after an event that means nothing a whitelist is watched as before") {
  const auto loaded = load("a");
  const auto other = load("other");
  guard.watch({loaded, other});
  REQUIRE(chmod(loaded->path().c_str(), 0400) == 0);
  flip_byte(other->path(), kHeaderBytes);  // its event comes after
  await_reports(1);
  REQUIRE(chmod(loaded->path().c_str(), 0600) == 0);
  flip_byte(loaded->path(), kHeaderBytes);
  await_reports(2);
}

TEST_CASE("if events are lost, each whitelist is examined") {
  const std::uint64_t most = std::stoull(read_file("/proc/sys/fs/inotify/max_queued_events"));
  if (most > 1'000'000) {
    WARN("skipped: the system keeps " << most << " events");
    return;
  }
  Guarded guarded;
  HeldGuard held;
  const auto first = guarded.load("first");
  const auto a = guarded.load("a");
  const auto b = guarded.load("b");
  const auto c = guarded.load("c");
  held.guard.watch({first, a, b, c});
  flip_byte(first->path(), kHeaderBytes);
  held.await_call(1);
  for (std::uint64_t event = 0; event < most + 2; event += 2) {  // two of one kind in a row would be taken for one
    REQUIRE(chmod(a->path().c_str(), 0600) == 0);
    REQUIRE(chmod(c->path().c_str(), 0600) == 0);
  }
  flip_byte(b->path(), kHeaderBytes);
  held.may_go_on.set_value();
  held.await_call(2);
  CHECK(held.calls == 2);
}

TEST_CASE_METHOD(Guarded, "a signal to the process is not the guard's") {
  const auto loaded = load("a");
  guard.watch({loaded});
  flip_byte(loaded->path(), kHeaderBytes);
  await_reports(1);  // so the guard's thread runs
  sigset_t held = {};
  sigset_t before = {};
  sigemptyset(&held);
  sigaddset(&held, SIGUSR1);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &held, &before) == 0);
  REQUIRE(kill(getpid(), SIGUSR1) == 0);  // it would end the process
  const timespec patience = {.tv_sec = 60, .tv_nsec = 0};
  CHECK(sigtimedwait(&held, nullptr, &patience) == SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a recheck of truncated pages ends neither the thread nor the process") {
  Guarded guarded(kFast);
  const auto loaded = guarded.load("a", kFourChunks);
  std::filesystem::resize_file(loaded->path(), kHeaderBytes + kChecksumChunkBytes);
  guarded.guard.watch({loaded});
  guarded.await_reports(1);
  const auto other = guarded.load("other");
  guarded.guard.watch({other});
  flip_byte(other->path(), kHeaderBytes);
  guarded.await_reports(2);
}

TEST_CASE("a file that was rewritten in place and loaded again is undamaged") {
  static_cast<void>(GENERATE(range(0, 10)));  // whether its guard has noticed the write before is a matter of chance
  Guarded guarded(kFast);
  const auto before = guarded.load("a");
  guarded.guard.watch({before});
  write_file(before->path(), read_file(before->path()));
  const auto after = guarded.load_again("a");
  guarded.guard.watch({after});
  const auto other = guarded.load("other");
  guarded.guard.watch({after, other});
  flip_byte(other->path(), kHeaderBytes);
  guarded.await_reports(before->first_to_report_damage() ? 1 : 2);  // the write may have been noticed before
  CHECK_FALSE(after->damaged());
}

TEST_CASE_METHOD(Guarded, "a write before a reload is not damage to the reloaded file, also if it is noticed late") {
  HeldGuard held(kFastest);
  const SilentWriter writer(build("silent"), kHeaderBytes);
  const auto silent = load_again("silent");
  const auto before = load("a");
  const auto other = load("other");
  held.guard.watch({silent, before});
  writer.flip();
  held.await_call(1);
  write_file(before->path(), read_file(before->path()));
  const auto after = load_again("a");
  held.guard.watch({after, other});
  flip_byte(other->path(), kHeaderBytes);  // its event comes after
  held.may_go_on.set_value();
  held.await_call(2);
  CHECK(other->damaged());
  CHECK_FALSE(after->damaged());
}

TEST_CASE("a guard ends while it waits for an hour, and while it checks without a pause") {
  for (const std::uint64_t rate : {std::uint64_t{1}, kFast, kFastest}) {
    Guarded guarded(rate);
    guarded.guard.watch({guarded.load("a", kFourChunks)});
  }
}

TEST_CASE_METHOD(Guarded, "a write to a store in place is noticed at once, without a look-up") {
  const PairFiles files({"joe@example.org"});
  const auto loaded = files.load();
  const auto other = load("a");
  guard.watch({other, loaded});
  SECTION("one bit") {
    flip_byte(files.store_path(), kHeaderBytes);
  }
  SECTION("its time changed") {
    REQUIRE(utimensat(AT_FDCWD, files.store_path().c_str(), nullptr, 0) == 0);
  }
  await_reports(1);
  CHECK(loaded->damage() == Damage::store_written_to);
  CHECK_FALSE(other->damaged());
}

TEST_CASE_METHOD(Guarded, "a write to a store between its loading and its watching is noticed") {
  const PairFiles files({"joe@example.org"});
  const auto loaded = files.load();
  flip_byte(files.store_path(), kHeaderBytes);
  guard.watch({loaded});
  CHECK(reports == 1);
  CHECK(loaded->damage() == Damage::store_written_to);
}

TEST_CASE("whitelists are taken over for watching while others are checked and written to") {
  Guarded guarded(kFastest);
  std::vector<std::shared_ptr<const LoadedFilter>> written;
  for (int i = 0; i < 30; ++i) {
    const auto loaded = guarded.load("a" + std::to_string(i));
    guarded.guard.watch({loaded, written.empty() ? nullptr : written.back()});
    flip_byte(loaded->path(), kHeaderBytes);
    written.push_back(loaded);
  }
  guarded.await_reports(30);
  for (const auto& each : written) CHECK(each->damaged());
}

TEST_CASE_METHOD(Guarded, "a store that is read, replaced or removed is not damaged") {
  const PairFiles files({"joe@example.org"});
  const auto loaded = files.load();
  const auto other = load("a");
  guard.watch({loaded, other});
  read_file(files.store_path());
  files.replace({"ann@example.org"});
  std::filesystem::remove(files.store_path());
  flip_byte(other->path(), kHeaderBytes);  // the events come in their order
  await_reports(1);
  CHECK_FALSE(loaded->damaged());
}

}  // namespace
}  // namespace bloomgate::test
