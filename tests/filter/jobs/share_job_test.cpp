#include "filter/jobs/share_job.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>

#include "filter/base/error.hpp"
#include "filter/share/shared_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/shared_learning.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Catch::Contains;
using std::chrono::days;
using std::chrono::sys_days;
using Clock = ShareJob::Clock;

constexpr sys_days kMonday{days(20'780)};

// What another host makes of the folder, from nothing: by the page FORMAT.md.
struct Reader {
  std::map<std::uint64_t, std::uint16_t> pairs;
  std::map<std::uint64_t, std::uint64_t> people;  // by number
  std::map<std::uint64_t, std::uint64_t> applied;
  std::uint64_t records = 0;

  explicit Reader(const std::string& folder) {
    const auto manifest = read_manifest(folder);
    REQUIRE(manifest);
    require_shared(manifest->manifest, folder);
    for (const PublishedFile& file : manifest->manifest.files) {
      const std::string bytes = read_shared_file(folder, file);
      const SharedPairs shared(bytes, file.name);
      records += shared.size();
      for (std::size_t i = 0; i < shared.size(); ++i) take(shared[i]);
    }
  }

  void take(const SharedRecord& record) {
    if (record.kind == SharedKind::pair) pairs[record.hash] = record.day;
    if (record.kind == SharedKind::gone) pairs.erase(record.hash);
    if (record.kind == SharedKind::person) people[record.second] = record.hash;
    if (record.kind == SharedKind::applied) applied[record.hash] = record.second;
  }
};

class Fixture {
 public:
  Fixture() : file_(path(), LearnedFile::Access::create) { begin(); }

  std::string path() const { return folder_.file("learned.db"); }
  std::string out() const { return folder_.file("shared"); }
  std::string in(const std::string& name) const { return folder_.file(name); }
  LearnedFile& file() { return file_; }
  test::SilentObserver& watcher() { return watcher_; }
  Clock::time_point now = kMonday + 8h;

  // Another process.
  void begin(LearnKey key = test::learn_key()) {
    job_.reset();
    ShareRequest request = {.file = path(), .folder = out(), .learn_key = key, .sign_key = signer_};
    job_ = std::make_unique<ShareJob>(std::move(request), watcher_, stop_);
  }
  void end() { job_.reset(); }
  void share_into(const std::string& folder) {
    ShareRequest request = {.file = path(), .folder = folder, .learn_key = test::learn_key(), .sign_key = signer_};
    ShareJob(std::move(request), watcher_, stop_).share(now);
  }

  ShareResult share() { return job_->share(now); }
  LearnedDay today() const { return std::chrono::floor<days>(now); }

  void write(const std::string& user, const std::string& correspondent) {
    file_.record(std::vector<LearnedFile::Contact>{{user, correspondent}}, today());
  }
  void forget(const std::string& person) { file_.forget(canonicalize_line(person), today()); }

  void check_same(LearnKey key = test::learn_key()) {
    std::map<std::uint64_t, std::uint16_t> want;
    file_.for_each([&](const LearnedPair& pair) {
      want[key.hash_of_pair(pair.user, pair.correspondent)] =
          static_cast<std::uint16_t>(pair.last_use.time_since_epoch().count());
    });
    CHECK(Reader(out()).pairs == want);
  }

  std::size_t files_there() const {
    std::size_t files = 0;
    for (const auto& each : fs::directory_iterator(out())) files += each.path().extension() == ".pairs" ? 1U : 0U;
    return files;
  }

 private:
  test::TemporaryFolder folder_;
  LearnedFile file_;
  std::shared_ptr<const SecretKey> signer_ = std::make_shared<const SecretKey>(test::signing_key());
  test::SilentObserver watcher_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<ShareJob> job_;
};

TEST_CASE("learned pairs are shared, and if nothing is new nothing is written") {
  Fixture fixture;
  fixture.write("ann@ours.example", "joe@example.org");
  const ShareResult first = fixture.share();
  CHECK(first.is_new);
  CHECK(first.is_whole);
  CHECK(first.pairs == 1);
  fixture.check_same();
  CHECK_FALSE(fixture.share().is_new);
  for (int i = 0; i < 50; ++i) fixture.write("ann@ours.example", "x" + std::to_string(i) + "@example.org");
  const std::uint64_t number = first.manifest.manifest.number;
  const ShareResult second = fixture.share();
  CHECK(second.manifest.manifest.number > number);
  CHECK(second.pairs >= 50);
  fixture.check_same();
}

TEST_CASE("once a day it is signed anew, though nothing is new") {
  Fixture fixture;
  fixture.now = Clock::now();
  fixture.write("ann@ours.example", "joe@example.org");
  fixture.share();
  fixture.now += 23h;
  CHECK_FALSE(fixture.share().is_new);
  fixture.now += 2h;
  const ShareResult again = fixture.share();
  CHECK(again.is_new);
  CHECK(again.file.empty());
  fixture.check_same();
}

TEST_CASE("after any learning and forgetting, in any number of processes, folder and database have the same content") {
  Fixture fixture;
  std::minstd_rand random(1);
  const auto pick = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  std::size_t most_files = 0;
  for (int step = 0; step < 200; ++step) {
    const unsigned what = pick(20);
    if (what == 0) {
      fixture.forget("c" + std::to_string(pick(40)) + "@example.org");
    } else if (what == 1) {
      fixture.now += std::chrono::hours(pick(40));
    } else if (what == 2) {
      fixture.begin();
    } else if (what == 3) {
      fixture.file().expire(fixture.today() - days(3), 5);
    } else if (what == 4) {
      const std::vector<std::uint64_t> people = {pick(5)};
      fixture.file().forget_heard(
          77, {1, step}, people, [&](const LearnedPair& pair) { return pair.user.size() % 7 == 0; }, fixture.today());
    } else {
      fixture.write("u" + std::to_string(pick(30)) + "@ours.example", "c" + std::to_string(pick(40)) + "@example.org");
    }
    fixture.share();
    if (step % 10 != 0) continue;
    // What has expired may still be there: every reader sees its day.
    Reader reader(fixture.out());
    std::map<std::uint64_t, std::uint16_t> want;
    fixture.file().for_each([&](const LearnedPair& pair) {
      want[test::learn_key().hash_of_pair(pair.user, pair.correspondent)] =
          static_cast<std::uint16_t>(pair.last_use.time_since_epoch().count());
    });
    std::erase_if(reader.pairs, [&](const auto& each) {
      return !want.contains(each.first) && LearnedDay(days(each.second)) < fixture.today() - days(3);
    });
    CHECK(reader.pairs == want);
    most_files = std::max(most_files, read_manifest(fixture.out())->manifest.files.size());
  }
  CHECK(most_files <= 12);
}

TEST_CASE("there are few files, and a pair is written as often as the logarithm of their number") {
  Fixture fixture;
  for (int i = 0; i < 5'000; ++i) fixture.write("ann@ours.example", "old" + std::to_string(i) + "@example.org");
  fixture.share();
  std::uint64_t bytes = 0;
  std::size_t most_files = 0;
  constexpr int kSteps = 200;
  for (int i = 0; i < kSteps; ++i) {
    fixture.write("ann@ours.example", "new" + std::to_string(i) + "@example.org");
    const ShareResult result = fixture.share();
    CHECK_FALSE(result.is_whole);
    bytes += result.bytes;
    most_files = std::max(most_files, result.manifest.manifest.files.size());
  }
  CHECK(most_files <= 12);
  // Ten times at most, as 2^9 is more than 200; and the headers.
  CHECK(bytes < std::uint64_t{kSteps} * (10 * kSharedRecordBytes + 4 * kSharedHeaderBytes));
  fixture.check_same();
}

TEST_CASE("a forget is shared with other hosts, and on the next day nothing else of the person is left") {
  Fixture fixture;
  for (int i = 0; i < 100; ++i) fixture.write("ann@ours.example", "x" + std::to_string(i) + "@example.org");
  fixture.share();
  fixture.forget("x7@example.org");
  const ShareResult told = fixture.share();
  CHECK_FALSE(told.is_whole);
  CHECK(told.forgets == 1);
  fixture.check_same();
  const LearnKey key = test::learn_key();
  const std::uint64_t person = key.hash_of_person(Forgets::hash_of(canonicalize_line("x7@example.org")));
  CHECK(Reader(fixture.out()).people == std::map<std::uint64_t, std::uint64_t>{{1, person}});

  fixture.now += days(1);
  fixture.write("ann@ours.example", "joe@example.org");
  CHECK(fixture.share().is_whole);
  const Reader next_day(fixture.out());
  CHECK(next_day.records == 102);  // 99 pairs of yesterday, one of today, their domain, and the person
  CHECK(next_day.people.size() == 1);
  fixture.check_same();

  // Longer than anybody keeps a pair.
  fixture.now += days(200);
  fixture.forget("x8@example.org");
  fixture.share();
  fixture.now += days(1);
  fixture.share();
  CHECK(Reader(fixture.out()).people.size() == 1);
  CHECK(Reader(fixture.out()).people.begin()->first == 2);
}

TEST_CASE("forgets are kept in the database until they are shared") {
  Fixture fixture;
  fixture.share();
  fixture.end();
  fixture.forget("joe@example.org");
  fixture.now += days(10);
  fixture.file().drop_forgets(fixture.today());
  fixture.begin();
  CHECK(fixture.share().forgets == 1);
  fixture.file().drop_forgets(fixture.today());
  CHECK(fixture.file().news_since({0, 0}, [](const LearnedPair&) {}).forgets.empty());
}

TEST_CASE("all hosts see which forgets of other hosts were applied") {
  Fixture fixture;
  fixture.share();
  const std::vector<std::uint64_t> people = {4};
  fixture.file().forget_heard(0x55, {3, 9}, people, [](const LearnedPair&) { return false; }, fixture.today());
  fixture.share();
  CHECK(Reader(fixture.out()).applied == std::map<std::uint64_t, std::uint64_t>{{forgets_id(0x55, 3), 9}});
  CHECK(Reader(fixture.out()).people.empty());
  // Also in a file that is whole.
  fixture.begin(test::learn_key(2));
  CHECK(fixture.share().is_whole);
  CHECK(Reader(fixture.out()).applied.size() == 1);
}

TEST_CASE("a folder that is damaged, or has another key or another database, is made anew") {
  Fixture fixture;
  for (int i = 0; i < 20; ++i) fixture.write("ann@ours.example", "x" + std::to_string(i) + "@example.org");
  fixture.share();
  SECTION("a manifest that cannot be read") {
    std::ofstream(fixture.out() + "/manifest") << "bloomgate-manifest 1\n";
    fixture.begin();
    CHECK(fixture.share().is_whole);
    CHECK_THAT(fixture.watcher().text, Contains("the last manifest is not used"));
  }
  SECTION("another key of the hosts") {
    fixture.begin(test::learn_key(2));
    CHECK(fixture.share().is_whole);
    fixture.check_same(test::learn_key(2));
    return;
  }
  SECTION("a file that is gone") {
    for (const auto& each : fs::directory_iterator(fixture.out())) {
      if (each.path().extension() == ".pairs") fs::remove(each.path());
    }
    fixture.begin();
    CHECK(fixture.share().is_whole);
  }
  fixture.check_same();
}

TEST_CASE("a copy of the database that was put back counts as another one, so that no forget is taken for an old one") {
  Fixture fixture;
  fixture.write("ann@ours.example", "joe@example.org");
  const std::uint64_t source = fixture.file().source();
  fixture.forget("zoe@example.org");
  fixture.share();
  fs::copy(fixture.path(), fixture.in("copy.db"));
  fixture.forget("zoe@example.org");
  fixture.share();
  fixture.end();
  {
    // The file is overwritten as a restore does it, with nobody at it.
    LearnedFile copy(fixture.in("copy.db"), LearnedFile::Access::write);
    CHECK(copy.changes().forgets <= 1);
  }
  fs::rename(fixture.in("copy.db"), fixture.path());
  for (const char* const end : {"-wal", "-shm"}) fs::remove(fixture.path() + end);
  fixture.begin();
  fixture.share();
  CHECK_THAT(fixture.watcher().text, Contains("as if an older copy had been restored"));
  LearnedFile restored(fixture.path(), LearnedFile::Access::write);
  CHECK(restored.source() != source);
  restored.forget(canonicalize_line("zoe@example.org"), fixture.today());
  CHECK(fixture.share().forgets == 1);
}

TEST_CASE("files that are no longer named stay for a while, for readers of the earlier manifest") {
  Fixture fixture;
  fixture.write("ann@ours.example", "joe@example.org");
  fixture.share();
  fixture.write("ann@ours.example", "zoe@example.org");
  fixture.share();
  CHECK(read_manifest(fixture.out())->manifest.files.size() == 1);
  CHECK(fixture.files_there() == 2);
  // Later, also by a process that has just begun.
  for (const auto& each : fs::directory_iterator(fixture.out())) {
    fs::last_write_time(each.path(), fs::last_write_time(each.path()) - 2min);
  }
  fixture.begin();
  fixture.share();
  CHECK(fixture.files_there() == 1);
  fixture.check_same();
}

TEST_CASE("a folder of layers is not taken for one of learned pairs") {
  Fixture fixture;
  fs::create_directory(fixture.in("layers"));
  for (const char* const name : {"0001.bloom", "revoked"}) {
    std::ofstream(fixture.in("layers") + "/" + name) << "x";
    CHECK(test::error_code_of([&] { fixture.share_into(fixture.in("layers")); }) == ErrorCode::bad_argument);
    fs::remove(fixture.in("layers") + "/" + name);
  }
  CHECK_NOTHROW(fixture.share_into(fixture.in("layers")));
}

TEST_CASE("another folder in the place of the one that was shared gets everything") {
  Fixture fixture;
  fixture.write("ann@ours.example", "joe@example.org");
  fixture.share();
  fs::rename(fixture.out(), fixture.in("away"));
  CHECK(fixture.share().is_whole);
  fixture.check_same();
}

TEST_CASE("a restored database with the same numbers is recognised by its content") {
  Fixture fixture;
  fixture.write("ann@ours.example", "joe@example.org");
  fixture.forget("abe@example.org");  // brings all into the file itself
  fixture.share();
  fs::copy(fixture.path(), fixture.in("copy.db"));
  fixture.write("ann@ours.example", "lost@example.org");
  fixture.forget("pat@example.org");
  fixture.share();
  fixture.end();
  fs::rename(fixture.in("copy.db"), fixture.path());
  for (const char* const end : {"-wal", "-shm"}) fs::remove(fixture.path() + end);
  LearnedFile restored(fixture.path(), LearnedFile::Access::write);
  restored.record(std::vector<LearnedFile::Contact>{{"ann@ours.example", "new@example.org"}}, fixture.today());
  restored.forget(canonicalize_line("zoe@example.org"), fixture.today());
  fixture.begin();
  CHECK(fixture.share().is_whole);
  CHECK_THAT(fixture.watcher().text, Contains("as if an older copy had been restored"));
  const Reader reader(fixture.out());
  CHECK(reader.pairs.contains(test::learn_key().hash_of_pair("ann@ours.example", "new@example.org")));
  CHECK_FALSE(reader.pairs.contains(test::learn_key().hash_of_pair("ann@ours.example", "lost@example.org")));
}

TEST_CASE("without a database, sharing says so, and begins once it is there") {
  Fixture fixture;
  fs::remove(fixture.path());
  CHECK(test::error_code_of([&] { fixture.share(); }) == ErrorCode::cannot_open);
  LearnedFile made(fixture.path(), LearnedFile::Access::create);
  CHECK(fixture.share().is_new);
}

}  // namespace
}  // namespace bloomgate
