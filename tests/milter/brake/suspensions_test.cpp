#include "milter/brake/suspensions.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/at_once.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;

constexpr std::chrono::sys_seconds kNow{1'790'000'000s};
const std::string kJoe = "joe@example.org";

bool holds(const Suspensions& all, std::string_view entry, std::chrono::sys_seconds now) {
  const Suspension* const found = find_suspension(all, entry);
  return found != nullptr && found->holds(now);
}

TEST_CASE("a sender is suspended for a day, and the second time within a week until a person clears it") {
  Suspensions all;
  CHECK(suspend(all, kJoe, "", kNow) == std::vector{kJoe});
  CHECK(suspend(all, kJoe, "", kNow + 1h).empty());  // it holds already
  CHECK(holds(all, kJoe, kNow + 24h - 1s));
  CHECK_FALSE(holds(all, kJoe, kNow + 24h));
  CHECK(suspend(all, kJoe, "", kNow + 7 * 24h - 1s) == std::vector{kJoe});
  CHECK(holds(all, kJoe, kNow + 10'000h));
}

TEST_CASE("a suspension that is more than a week old does not count") {
  Suspensions all;
  suspend(all, kJoe, "", kNow);
  suspend(all, kJoe, "", kNow + 7 * 24h);
  CHECK_FALSE(holds(all, kJoe, kNow + 8 * 24h));
}

TEST_CASE("three addresses of a domain that are suspended at once suspend the entry that lists them") {
  Suspensions all;
  const std::string entry = GENERATE("@example.org", "@.org", "@.example.org");
  CHECK(suspend(all, "a@example.org", entry, kNow) == std::vector<std::string>{"a@example.org"});
  CHECK(suspend(all, "x@other.example", "", kNow).size() == 1);
  CHECK(suspend(all, "b@example.org", entry, kNow).size() == 1);
  CHECK(suspend(all, "c@example.org", entry, kNow) == std::vector<std::string>{"c@example.org", entry});
  CHECK(holds(all, entry, kNow));
  for (const char* const other : {"@ample.org", "@.ample.org", "@.example.or"}) {
    suspend(all, "d@example.org", other, kNow);
    CHECK(find_suspension(all, other) == nullptr);
  }
}

TEST_CASE("a suspended domain is none of the addresses of a larger one") {
  Suspensions all;
  for (const char* const entry : {"@a.example.org", "@b.example.org"}) suspend(all, entry, "", kNow);
  CHECK(suspend(all, "c@example.org", "@.example.org", kNow).size() == 1);
  CHECK(suspend(all, "@.example.org", "@.example.org", kNow).size() == 1);
}

TEST_CASE("suspensions are read as they were written, and expired ones are removed after a week") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("suspended");
  CHECK(read_suspensions(path).empty());
  edit_suspensions(path, kNow, [](Suspensions& all) {
    suspend(all, kJoe, "", kNow);
    suspend(all, "list:news.lists.example", "", kNow - 1h);
    suspend(all, "ann@example.org", "", kNow - 48h);
    suspend(all, "ann@example.org", "", kNow);
  });
  Suspensions all = read_suspensions(path);
  REQUIRE(all.size() == 3);
  CHECK(all[0] == Suspension{kJoe, kNow + 24h, {kNow}});
  CHECK(all[2] == Suspension{"ann@example.org", std::nullopt, {kNow - 48h, kNow}});
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
  edit_suspensions(path, kNow + 7 * 24h,
                   [](Suspensions& some) { suspend(some, "new@example.org", "", kNow + 7 * 24h); });
  all = read_suspensions(path);
  REQUIRE(all.size() == 2);
  CHECK(all[0].entry == "ann@example.org");
  CHECK(all[1].entry == "new@example.org");
}

TEST_CASE("an invalid line is reported with its number, and the file stays unchanged") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("suspended");
  const std::string line =
      GENERATE("joe@example.org", "joe@example.org\t", "joe@example.org\tnever\t", "joe@example.org\t-1\t",
               "joe@example.org\t1\t2,x", "joe\t1\t2", "joe@example.org\t99999999999999\t",
               "joe@example.org\t253402300800\t", "\t1\t2", "joe@example.org 1 2", "joe@example.org\t1\t2\tann");
  std::ofstream(path) << "# a comment\n\nann@example.org\t0\t1\n" << line << "\n";
  const auto error = test::error_of([&] { edit_suspensions(path, kNow, [](Suspensions& all) { all.clear(); }); });
  CHECK(error.code() == ErrorCode::bad_input);
  CHECK_THAT(error.what(), Contains("line 4 is no suspension"));
  CHECK(std::filesystem::file_size(path) > 20);
}

TEST_CASE("a file that cannot be read is an error, and not an empty one") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("suspended"));
  CHECK_THROWS_AS(read_suspensions(folder.file("suspended")), BloomgateError);
  std::filesystem::create_symlink("link", folder.file("link"));
  CHECK_THROWS_AS(read_suspensions(folder.file("link")), BloomgateError);
  CHECK_THROWS_AS(edit_suspensions(folder.file("none/suspended"), kNow, [](Suspensions&) {}), BloomgateError);
}

TEST_CASE("an edit that changes nothing makes no file, and removes nothing") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("suspended");
  edit_suspensions(path, kNow, [](Suspensions&) {});
  CHECK_FALSE(std::filesystem::exists(path));
  edit_suspensions(path, kNow, [](Suspensions& all) {
    all.push_back({.entry = kJoe, .until = std::chrono::sys_seconds(253'402'300'799s)});
    all.push_back({.entry = "old@example.org", .until = kNow});
  });
  CHECK(read_suspensions(path) == Suspensions{{kJoe, std::chrono::sys_seconds(253'402'300'799s)}});
}

TEST_CASE("the files belong to the owner of their folder, and a link in the place of the lock is refused") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("suspended");
  const auto edit = [&] { edit_suspensions(path, kNow, [](Suspensions& all) { suspend(all, kJoe, "", kNow); }); };
  if (geteuid() == 0) {
    REQUIRE(chown(folder.path().c_str(), 12, 34) == 0);
    edit();
    for (const auto& each : std::filesystem::directory_iterator(folder.path())) {
      struct stat status = {};
      REQUIRE(stat(each.path().c_str(), &status) == 0);
      CHECK(status.st_uid == 12);
      CHECK(status.st_gid == 34);
    }
    CHECK(std::filesystem::exists(path));
  }
  for (const auto& each : std::filesystem::directory_iterator(folder.path())) std::filesystem::remove(each.path());
  edit();
  std::filesystem::remove(path);
  const std::filesystem::path lock = std::filesystem::directory_iterator(folder.path())->path();
  std::filesystem::rename(lock, folder.file("target"));
  std::filesystem::create_symlink(folder.file("target"), lock);
  CHECK(test::error_code_of(edit) == ErrorCode::cannot_write);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("concurrent edits lose nothing") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("suspended");
  test::at_once(4, [&](int thread) {
    for (int i = 0; i < 10; ++i) {
      const std::string entry = std::to_string(thread) + "." + std::to_string(i) + "@example.org";
      edit_suspensions(path, kNow, [&](Suspensions& all) { suspend(all, entry, "", kNow); });
    }
  });
  CHECK(read_suspensions(path).size() == 40);
}

const std::string kAnn = "ann@ours.example";

bool holds_for(const Suspensions& all, std::string_view entry, std::string_view user, std::chrono::sys_seconds now) {
  const Suspension* const found = find_suspension(all, entry, user);
  return found != nullptr && found->holds(now);
}

TEST_CASE("a sender suspended for one user is suspended as usual, but for no other user") {
  Suspensions all;
  CHECK(suspend_for_user(all, kJoe, kAnn, kNow) == SuspendedForUser::now);
  CHECK(suspend_for_user(all, kJoe, kAnn, kNow + 1h) == SuspendedForUser::before);
  CHECK(holds_for(all, kJoe, kAnn, kNow + 24h - 1s));
  CHECK_FALSE(holds_for(all, kJoe, kAnn, kNow + 24h));
  CHECK_FALSE(holds_for(all, kJoe, "pam@ours.example", kNow));
  CHECK_FALSE(holds(all, kJoe, kNow));
  CHECK(suspend_for_user(all, kJoe, kAnn, kNow + 24h) == SuspendedForUser::now);
  CHECK(holds_for(all, kJoe, kAnn, kNow + 10'000h));
  CHECK(shown_name(kJoe, kAnn) == "joe@example.org > ann@ours.example");
}

TEST_CASE("senders whom users have suspended do not count towards the suspension of their domain") {
  Suspensions all;
  for (const char* const sender : {"a@example.org", "b@example.org", "c@example.org"}) {
    suspend_for_user(all, sender, kAnn, kNow);
  }
  CHECK(suspend(all, "d@example.org", "@example.org", kNow) == std::vector<std::string>{"d@example.org"});
}

TEST_CASE("any entry and any user are read as they were written") {
  Suspensions all;
  for (const char* const entry :
       {"#x@example.org", "\"# x\"@example.org", "\"a > b\"@example.org", "\"q,\"@example.org", "j\u00f6rg@example.org",
        "list:news.example", "@.example.org", "x@[192.0.2.1]"}) {
    suspend(all, entry, "", kNow);
    suspend_for_user(all, entry, "\"c > d\"@ours.example", kNow);
    suspend_for_user(all, entry, "#y@ours.example", kNow);
  }
  CHECK(parse_suspensions(suspensions_text(all), "") == all);
  CHECK(all.size() == 24);
}

TEST_CASE("a user's oldest suspensions make room for new ones, and those without an end are the last to go") {
  Suspensions all;
  suspend(all, kJoe, "", kNow);
  suspend_for_user(all, kJoe, "pam@ours.example", kNow);
  all.push_back({.entry = "cleared@example.org", .until = {}, .times = {kNow - 10h}, .user = kAnn});
  const auto sender = [](std::size_t number) { return "s" + std::to_string(number) + "@example.org"; };
  for (std::size_t i = 0; i < kMostOfUser; ++i) suspend_for_user(all, sender(i), kAnn, kNow + i * 1s);
  CHECK(all.size() == 2 + kMostOfUser);
  CHECK(holds(all, kJoe, kNow));
  CHECK(holds_for(all, kJoe, "pam@ours.example", kNow));
  CHECK(holds_for(all, "cleared@example.org", kAnn, kNow));
  CHECK_FALSE(holds_for(all, sender(0), kAnn, kNow));
  CHECK(holds_for(all, sender(1), kAnn, kNow));
  // What holds no more goes first, however new.
  for (Suspension& each : all) {
    if (each.entry == sender(50)) each.until = kNow;
  }
  suspend_for_user(all, sender(500), kAnn, kNow + 200s);
  CHECK(find_suspension(all, sender(50), kAnn) == nullptr);
  CHECK(holds_for(all, sender(1), kAnn, kNow));
}

TEST_CASE("if the file is full, no user's suspension replaces that of another user") {
  Suspensions all;
  for (std::size_t i = 0; i < kMostOfUsers; ++i) {
    all.push_back({.entry = kJoe, .until = {}, .times = {kNow}, .user = "u" + std::to_string(i) + "@ours.example"});
  }
  CHECK(suspend_for_user(all, kJoe, "new@ours.example", kNow) == SuspendedForUser::no_room);
  CHECK(all.size() == kMostOfUsers);
  all.front().until = kNow;
  CHECK(suspend_for_user(all, kJoe, "new@ours.example", kNow) == SuspendedForUser::now);
  CHECK(all.size() == kMostOfUsers);
}

}  // namespace
}  // namespace bloomgate
