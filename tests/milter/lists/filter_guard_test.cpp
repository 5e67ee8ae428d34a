#include "milter/lists/filter_guard.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>

#include "tests/milter/daemon_parts.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/silent_writer.hpp"

namespace bloomgate {
namespace {

using test::flip_byte;

constexpr std::uint64_t kFast = std::uint64_t{1} << 40;  // bytes an hour: a chunk in 4 ms
constexpr std::uint64_t kFourChunks = 3'670'016;         // entries, at 8 bits each

// A guard, and how often it has reported damage.
struct Guarded {
  explicit Guarded(std::uint64_t bytes_per_hour) : guard(bytes_per_hour, [this] { ++reports; }) {
    install_bus_fault_handler();
  }

  std::shared_ptr<const LoadedFilter> load(const std::string& name, std::uint64_t entries = 100) const {
    test::build_filter(folder.file(name), {"joe@example.org"}, {.expected_entries = entries, .seed = 42});
    test::make_old(folder.file(name));
    return load_again(name);
  }
  std::shared_ptr<const LoadedFilter> load_again(const std::string& name) const {
    return std::make_shared<const LoadedFilter>(folder.file(name), false);
  }

  // The test's own time limit ends it where they never come.
  void await_reports(int count) const {
    while (reports < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(reports == count);
  }

  test::TemporaryFolder folder;
  std::atomic<int> reports{0};
  FilterGuard guard;
};

TEST_CASE("a write to a whitelist in place is noticed at once, without a look-up and without rechecks") {
  Guarded guarded(0);
  const auto loaded = guarded.load("a");
  guarded.guard.watch({nullptr, loaded});
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
    test::write_file(path, test::read_file(path));
  }
  SECTION("its time changed") {
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0);
  }
  guarded.await_reports(1);
  CHECK(loaded->damage() == Damage::written_to);
}

TEST_CASE("a write whose time is put back is noticed") {
  Guarded guarded(0);
  const auto loaded = guarded.load("a");
  guarded.guard.watch({loaded});
  struct stat before = {};
  REQUIRE(stat(loaded->path().c_str(), &before) == 0);
  const timespec times[] = {before.st_atim, before.st_mtim};
  flip_byte(loaded->path(), kHeaderBytes);
  REQUIRE(utimensat(AT_FDCWD, loaded->path().c_str(), times, 0) == 0);
  guarded.await_reports(1);
  CHECK(loaded->damage() == Damage::written_to);
}

TEST_CASE("a write between the load and the watch is noticed") {
  Guarded guarded(0);
  const auto loaded = guarded.load("a");
  flip_byte(loaded->path(), kHeaderBytes);
  guarded.guard.watch({loaded});
  guarded.await_reports(1);
}

TEST_CASE("a file that is renamed, replaced or removed goes on to serve") {
  Guarded guarded(kFast);
  const auto loaded = guarded.load("a");
  const auto other = guarded.load("other");
  guarded.guard.watch({loaded, other});
  std::filesystem::rename(loaded->path(), guarded.folder.file("b"));
  test::build_filter(guarded.folder.file("b"), {"ann@example.org"});
  std::filesystem::remove(guarded.folder.file("b"));
  flip_byte(other->path(), kHeaderBytes);  // its event comes after those of the first
  guarded.await_reports(1);
  CHECK(other->damaged());
  CHECK_FALSE(loaded->damaged());
}

TEST_CASE("a bit that goes bad without a sign is found by the recheck, in any chunk of any whitelist") {
  Guarded guarded(kFast);
  const auto first = guarded.load("first", kFourChunks);
  test::build_filter(guarded.folder.file("second"), {"joe@example.org"}, {.expected_entries = kFourChunks, .seed = 42});
  const auto chunk = GENERATE(std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{3});
  const test::SilentWriter writer(guarded.folder.file("second"), kHeaderBytes + chunk * kChecksumChunkBytes);
  const auto second = guarded.load_again("second");
  guarded.guard.watch({first, second});
  writer.flip();
  CHECK(second->file().state() == MappedFilter::State::whole);  // as far as the file's times tell
  guarded.await_reports(1);
  CHECK(second->damage() == Damage::spoiled);
  CHECK_FALSE(first->damaged());
}

TEST_CASE("without rechecks a bit that goes bad without a sign stays unseen") {
  Guarded guarded(0);
  test::build_filter(guarded.folder.file("a"), {"joe@example.org"});
  const test::SilentWriter writer(guarded.folder.file("a"), kHeaderBytes);
  const auto silent = guarded.load_again("a");
  const auto other = guarded.load("other");
  guarded.guard.watch({silent, other});
  writer.flip();
  flip_byte(other->path(), kHeaderBytes);
  guarded.await_reports(1);
  CHECK_FALSE(silent->damaged());
}

TEST_CASE("a recheck of pages that are gone ends neither the thread nor the process") {
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

TEST_CASE("a file that was written anew in place and loaded again is whole") {
  Guarded guarded(kFast);
  const auto before = guarded.load("a");
  guarded.guard.watch({before});
  test::write_file(before->path(), test::read_file(before->path()));
  const auto after = guarded.load_again("a");
  guarded.guard.watch({after});
  const auto other = guarded.load("other");
  guarded.guard.watch({after, other});
  flip_byte(other->path(), kHeaderBytes);
  guarded.await_reports(before->first_to_report_damage() ? 1 : 2);  // the write may have been noticed before
  CHECK_FALSE(after->damaged());
}

TEST_CASE("a guard ends while it waits for an hour, and while it checks without a pause") {
  for (const std::uint64_t rate : {std::uint64_t{1}, kFast, ~std::uint64_t{0}}) {
    Guarded guarded(rate);
    guarded.guard.watch({guarded.load("a", kFourChunks)});
  }
}

}  // namespace
}  // namespace bloomgate
