#include "filter/learned/learned_file.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/largest_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using std::chrono::days;
using Contact = LearnedFile::Contact;

constexpr LearnedDay kMonday{days(20'780)};

struct Days {
  LearnedDay first;
  LearnedDay last;
  friend bool operator==(const Days&, const Days&) = default;
};
// By user and correspondent.
using Pairs = std::map<std::pair<std::string, std::string>, Days>;

Pairs pairs_of(LearnedFile& file) {
  Pairs pairs;
  file.for_each([&](const LearnedPair& pair) {
    pairs[{std::string(pair.user), std::string(pair.correspondent)}] = {pair.first_use, pair.last_use};
  });
  return pairs;
}

// By another hand than ours.
void run_sql(const std::string& path, const std::string& statements) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  const int status = sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr);
  INFO(sqlite3_errmsg(database));
  sqlite3_close(database);
  REQUIRE(status == SQLITE_OK);
}

std::int64_t number_from_sql(const std::string& path, const std::string& query) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  std::int64_t number = -1;
  const auto take = [](void* out, int, char** values, char**) {
    *static_cast<std::int64_t*>(out) = std::stoll(values[0]);
    return 0;
  };
  CHECK(sqlite3_exec(database, query.c_str(), take, &number, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return number;
}

class Fixture {
 public:
  Fixture() : path_(folder_.file("learned.db")) {}
  const std::string& path() const { return path_; }
  LearnedFile create() const { return LearnedFile(path_, LearnedFile::Access::create); }
  ErrorCode code_of_reading() const {
    return error_code_of([&] { pairs_of_path(); });
  }
  Pairs pairs_of_path() const {
    LearnedFile file(path_, LearnedFile::Access::read);
    return pairs_of(file);
  }

 private:
  const TemporaryFolder folder_;
  const std::string path_;
};

TEST_CASE_METHOD(Fixture, "recorded pairs are in the file, with the days of their use, when it is opened again") {
  {
    LearnedFile file(path(), LearnedFile::Access::create);
    const std::vector<Contact> two = {{"ann@ours.example", "joe@example.org"}, {"bob@ours.example", "joe@example.org"}};
    CHECK(file.record(two, kMonday).added == 2);
    const LearnedFile::Recorded again = file.record(std::span(two).first(1), kMonday + days(3));
    CHECK(again.added == 0);
    CHECK(again.renewed == 1);
    CHECK(file.count() == 2);
    CHECK(file.find("ann@ours.example", "joe@example.org") == kMonday + days(3));
    CHECK(file.find("bob@ours.example", "joe@example.org") == kMonday);
    CHECK_FALSE(file.find("joe@example.org", "bob@ours.example"));
    CHECK(file.last_use_of_domain("example.org") == kMonday + days(3));
    CHECK_FALSE(file.last_use_of_domain("ours.example"));
    CHECK_FALSE(file.last_use_of_domain("org"));
    CHECK(std::filesystem::exists(path() + "-wal"));
  }
  CHECK(pairs_of_path() == Pairs{{{"ann@ours.example", "joe@example.org"}, {kMonday, kMonday + days(3)}},
                                 {{"bob@ours.example", "joe@example.org"}, {kMonday, kMonday}}});
  struct stat status = {};
  REQUIRE(stat(path().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE_METHOD(Fixture,
                 "a user gets no more new pairs a day than the caller allows, and those that are there are renewed") {
  LearnedFile file(path(), LearnedFile::Access::create);
  const auto record = [&](const std::string& user, const std::string& correspondent, LearnedDay day) {
    const Contact contact = {.user = user, .correspondent = correspondent, .most_a_day = 1};
    return file.record({&contact, 1}, day);
  };
  CHECK(record("ann@ours.example", "joe@example.org", kMonday).added == 1);
  CHECK(record("ann@ours.example", "jim@example.org", kMonday).over_rate == 1);
  CHECK(record("ann@ours.example", "joe@example.org", kMonday).renewed == 1);
  CHECK(record("bob@ours.example", "jim@example.org", kMonday).added == 1);
  CHECK(record("ann@ours.example", "jim@example.org", kMonday + days(1)).added == 1);
  CHECK(file.count() == 3);
}

TEST_CASE_METHOD(Fixture, "a file has room for a number of pairs, and pairs are renewed when it is full") {
  LearnedFile file(path(), LearnedFile::Access::create);
  run_sql(path(), "UPDATE state SET pairs = " + std::to_string(kMostLearned - 1));
  const std::vector<Contact> two = {{"ann@ours.example", "joe@example.org"}, {"ann@ours.example", "zoe@example.org"}};
  const LearnedFile::Recorded recorded = file.record(two, kMonday);
  CHECK(recorded.added == 1);
  CHECK(recorded.no_room == 1);
  CHECK(file.record(std::span(two).first(1), kMonday).renewed == 1);
  CHECK(file.count() == kMostLearned);
  // A count that is too low does not fall below 0.
  run_sql(path(), "UPDATE state SET pairs = 0");
  CHECK(file.forget(canonicalize_line("joe@example.org"), kMonday) == 1);
  CHECK(file.record(two, kMonday).added == 2);
  run_sql(path(), "UPDATE state SET pairs = 0");
  CHECK(file.expire(kMonday + days(1), 1) == 1);
  CHECK(file.expire(kMonday + days(1), 9) == 1);
  CHECK(file.count() == 0);
}

TEST_CASE_METHOD(Fixture, "a renewal adds nothing, and a clock that was put back takes no day away") {
  LearnedFile file(path(), LearnedFile::Access::create);
  file.record(std::vector<Contact>{{"ann@ours.example", "joe@example.org"}}, kMonday);
  file.record(
      std::vector<Contact>{{"ann@ours.example", "joe@example.org", true}, {"ann@ours.example", "x@y.example", true}},
      kMonday - days(2));
  CHECK(pairs_of(file) == Pairs{{{"ann@ours.example", "joe@example.org"}, {kMonday, kMonday}}});
}

TEST_CASE("a person is forgotten on both sides of pairs, with tags, and other persons are not") {
  const std::vector<Contact> all = {
      {"ann@ours.example", "joe@example.org"},    {"ann@ours.example", "joe+news@example.org"},
      {"ann@ours.example", "joe2@example.org"},   {"ann@ours.example", "joe@sub.example.org"},
      {"ann@ours.example", "joe@notexample.org"}, {"joe@example.org", "zoe@far.example"},
      {"bob+x@ours.example", "zoe@far.example"}};
  const auto [person, left] = GENERATE(table<const char*, std::set<std::size_t>>({
      {"joe@example.org", {2, 3, 4, 6}},
      {"JOE@Example.Org", {2, 3, 4, 6}},
      {"joe+news@example.org", {0, 2, 3, 4, 5, 6}},
      {"@example.org", {3, 4, 6}},
      {"@.example.org", {4, 6}},
      {"bob@ours.example", {0, 1, 2, 3, 4, 5}},
      {"@org", {0, 1, 2, 3, 4, 5, 6}},
      {"@.org", {6}},
      {"nobody@example.org", {0, 1, 2, 3, 4, 5, 6}},
  }));
  CAPTURE(person);
  const Fixture at;
  LearnedFile file(at.path(), LearnedFile::Access::create);
  file.record(all, kMonday);
  const LearnedFile::Changes before = file.changes();
  CHECK(file.forget(canonicalize_line(person), kMonday) == all.size() - left.size());
  const Pairs pairs = pairs_of(file);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(pairs.contains({all[i].user, all[i].correspondent}) == left.contains(i));
  }
  // Even if there was nothing: it may be in somebody's memory.
  CHECK(file.changes().forgets == before.forgets + 1);
  CHECK(file.count() == left.size());

  // Now from messages that began before that, and after it.
  std::vector<Contact> late = all;
  for (Contact& contact : late) contact.began = {.forgets = before.forgets};
  const LearnedFile::Recorded recorded = file.record(late, kMonday);
  CHECK(recorded.forgotten == all.size() - left.size());
  CHECK(recorded.renewed == left.size());
  CHECK(pairs_of(file) == pairs);
  for (Contact& contact : late) contact.began = {.forgets = before.forgets + 1};
  CHECK(file.record(late, kMonday).added == all.size() - left.size());
}

std::uint64_t added_since(LearnedFile& file, const std::string& correspondent, std::int64_t forgets) {
  const Contact contact = {.user = "ann@ours.example", .correspondent = correspondent, .began = {{.forgets = forgets}}};
  return file.record(std::span(&contact, 1), kMonday).added;
}

TEST_CASE_METHOD(Fixture, "a message that began before a person was forgotten teaches only other pairs") {
  LearnedFile file(path(), LearnedFile::Access::create);
  for (const char* const person : {"a@example.org", "b@example.org", "c@example.org"}) {
    file.forget(canonicalize_line(person), kMonday);
  }
  CHECK(added_since(file, "c@example.org", 2) == 0);
  CHECK(added_since(file, "b@example.org", 1) == 0);
  CHECK(added_since(file, "a@example.org", 0) == 0);
  CHECK(added_since(file, "b@example.org", 2) == 1);
  CHECK(added_since(file, "a@example.org", 1) == 1);
  CHECK(added_since(file, "x@example.org", 0) == 1);
  // A number of another file.
  CHECK(added_since(file, "y@example.org", 4) == 0);
  // It may be renewed by a message that began before it was forgotten, and learned again.
  const Contact renewal = {
      .user = "ann@ours.example", .correspondent = "a@example.org", .is_renewal = true, .began = LearnedBegin{}};
  CHECK(file.record(std::span(&renewal, 1), kMonday).renewed == 1);
}

TEST_CASE_METHOD(Fixture, "a removal that the daemon has not read yet counts if it came after the message") {
  LearnedFile file(path(), LearnedFile::Access::create);
  file.forget(canonicalize_line("a@example.org"), kMonday, std::chrono::seconds(10));
  const auto added_at = [&](std::chrono::seconds time) {
    const Contact contact = {
        .user = "ann@ours.example", .correspondent = "a@example.org", .began = {{.forgets = 0, .time = time}}};
    return file.record(std::span(&contact, 1), kMonday).added;
  };
  CHECK(added_at(std::chrono::seconds(9)) == 0);
  CHECK(added_at(std::chrono::seconds(10)) == 1);
  // Without a time given, it is now.
  timespec now = {};
  REQUIRE(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  const std::chrono::nanoseconds before = boot_time();
  CHECK(before >= std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  file.forget(canonicalize_line("a@example.org"), kMonday);
  CHECK(added_at(std::chrono::ceil<std::chrono::seconds>(boot_time())) == 1);
  file.forget(canonicalize_line("a@example.org"), kMonday);
  CHECK(added_at(std::chrono::floor<std::chrono::seconds>(before)) == 0);
}

TEST_CASE_METHOD(Fixture,
                 "the persons of the last removals are kept for a while, and messages from before teach nothing") {
  LearnedFile file(path(), LearnedFile::Access::create);
  SECTION("until a later day") {
    file.forget(canonicalize_line("a@example.org"), kMonday);
    file.forget(canonicalize_line("b@example.org"), kMonday - days(1));  // the clock was put back
    file.forget(canonicalize_line("c@example.org"), kMonday + days(1));
    file.drop_forgets(kMonday - days(1));
    CHECK(added_since(file, "x@example.org", 0) == 1);
    file.drop_forgets(kMonday);
    CHECK(added_since(file, "y@example.org", 1) == 0);
    CHECK(added_since(file, "y@example.org", 2) == 1);
    CHECK(added_since(file, "c@example.org", 2) == 0);
    file.drop_forgets(kMonday + days(2));
    CHECK(added_since(file, "z@example.org", 2) == 0);
    CHECK(added_since(file, "z@example.org", 3) == 1);
  }
  SECTION("and no more than a number of them") {
    const auto most = static_cast<std::int64_t>(Forgets::kMost);
    run_sql(path(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(most) +
                        ") INSERT INTO forgotten SELECT i, i, 1, 20780, 0 FROM n;" +
                        "UPDATE state SET forgets = " + std::to_string(most));
    file.forget(canonicalize_line("a@example.org"), kMonday);
    CHECK(file.forgets().count() == most + 1);
    CHECK(added_since(file, "x@example.org", 0) == 0);
    CHECK(added_since(file, "a@example.org", 1) == 0);
    CHECK(added_since(file, "x@example.org", 1) == 1);
    CHECK(added_since(file, "a@example.org", most + 1) == 1);
    CHECK(number_from_sql(path(), "SELECT count(*) FROM forgotten") == most);
    CHECK_NOTHROW(file.drop_forgets(kMonday));
  }
}

TEST_CASE_METHOD(Fixture, "no forgotten address stays in the file or its log") {
  LearnedFile file(path(), LearnedFile::Access::create);
  for (int i = 0; i < 200; ++i) {
    file.record(std::vector<Contact>{{"ann@ours.example", "secretjoe" + std::to_string(i) + "@example.org"}}, kMonday);
  }
  CHECK(file.forget(canonicalize_line("@example.org"), kMonday) == 200);
  for (const std::string& name : {path(), path() + "-wal"}) {
    std::ifstream in(name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    CAPTURE(name);
    CHECK(bytes.find("secretjoe") == std::string::npos);
  }
}

TEST_CASE_METHOD(Fixture, "the pairs that were not used for longest expire first, a part at a time") {
  LearnedFile file(path(), LearnedFile::Access::create);
  for (int day = 0; day < 10; ++day) {
    file.record(std::vector<Contact>{{"ann@ours.example", "d" + std::to_string(day) + "@example.org"}},
                kMonday + days(day));
  }
  // The first one is used again.
  file.record(std::vector<Contact>{{"ann@ours.example", "d0@example.org", true}}, kMonday + days(9));
  CHECK(file.expire(kMonday + days(6), 3) == 3);
  CHECK(file.expire(kMonday + days(6), 3) == 2);
  CHECK(file.expire(kMonday + days(6), 3) == 0);
  const Pairs pairs = pairs_of(file);
  CHECK(pairs.size() == 5);
  CHECK(pairs.contains({"ann@ours.example", "d0@example.org"}));
  CHECK(pairs.contains({"ann@ours.example", "d6@example.org"}));
  CHECK(file.count() == 5);
}

TEST_CASE_METHOD(Fixture, "a reader gets the pairs that are new since its last read, and is notified of removals") {
  LearnedFile ours(path(), LearnedFile::Access::create);
  LearnedFile theirs(path(), LearnedFile::Access::write);
  ours.record(std::vector<Contact>{{"ann@ours.example", "joe@example.org"}}, kMonday);
  const auto none = [](const LearnedPair&) {};
  LearnedFile::Changes seen = ours.for_each_since(0, none);
  const std::int64_t version = ours.data_version();
  ours.record(std::vector<Contact>{{"ann@ours.example", "own@example.org"}}, kMonday);
  CHECK(ours.data_version() == version);
  seen = ours.changes();

  theirs.record(std::vector<Contact>{{"bob@ours.example", "new@example.org"}, {"ann@ours.example", "joe@example.org"}},
                kMonday + days(1));
  CHECK(ours.data_version() != version);
  std::vector<std::string> found;
  seen = ours.for_each_since(seen.last, [&](const LearnedPair& pair) { found.emplace_back(pair.correspondent); });
  CHECK(found == std::vector<std::string>{"new@example.org", "joe@example.org"});
  theirs.forget(canonicalize_line("joe@example.org"), kMonday);
  CHECK(ours.changes().forgets == seen.forgets + 1);
}

TEST_CASE_METHOD(Fixture, "a file that is not our database is refused by name") {
  SECTION("it is not there") {
    CHECK(code_of_reading() == ErrorCode::cannot_open);
    CHECK(error_code_of([&] { LearnedFile(path() + "/db", LearnedFile::Access::create); }) == ErrorCode::cannot_write);
  }
  SECTION("it is empty") {
    std::ofstream(path()).flush();
    CHECK(code_of_reading() == ErrorCode::bad_magic);
    // As a daemon leaves it that ends before it has made its tables.
    CHECK(LearnedFile(path(), LearnedFile::Access::create).count() == 0);
  }
  SECTION("it is no database") {
    std::ofstream(path()) << std::string(5000, 'x');
    CHECK(code_of_reading() == ErrorCode::bad_input);
    CHECK(error_code_of([&] { create(); }) == ErrorCode::bad_input);
  }
  SECTION("it is a folder") {
    REQUIRE(mkdir(path().c_str(), 0700) == 0);
    CHECK(code_of_reading() == ErrorCode::not_a_regular_file);
  }
  SECTION("it is another program's") {
    run_sql(path(), "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    const std::string before = read_file(path());
    CHECK(code_of_reading() == ErrorCode::bad_magic);
    CHECK(error_code_of([&] { create(); }) == ErrorCode::bad_magic);
    CHECK(read_file(path()) == before);
  }
  SECTION("it is another program's, and has no table yet") {
    run_sql(path(), "PRAGMA application_id = 7");
    CHECK(error_code_of([&] { create(); }) == ErrorCode::bad_magic);
  }
  SECTION("a newer version has written it") {
    create();
    run_sql(path(), "PRAGMA user_version = 3");
    CHECK(code_of_reading() == ErrorCode::unsupported_version);
    CHECK_THROWS_WITH(create(), Contains(path()) && Contains("found version 3"));
  }
}

TEST_CASE_METHOD(Fixture, "a row that our code cannot have written is damage") {
  create();
  const auto [name, sql] = GENERATE(table<const char*, const char*>({
      {"a domain", "INSERT INTO pairs VALUES (1, 'ann@ours.example', '@example.org', 1, 1)"},
      {"no address, which is how a sender of bounces is written",
       "INSERT INTO pairs VALUES (1, 'ann@ours.example', '', 1, 1)"},
      {"two lines", "INSERT INTO pairs VALUES (1, 'ann@ours.example', 'joe@example.org' || char(10) || 'x', 1, 1)"},
      {"a zero byte, which ends a text of C",
       "INSERT INTO pairs VALUES (1, 'ann@ours.example', 'joe@example.org' || char(0) || 'x', 1, 1)"},
      {"a day before all days", "INSERT INTO pairs VALUES (1, 'ann@ours.example', 'joe@example.org', -1, 1)"},
      {"a day after all days", "INSERT INTO pairs VALUES (1, 'ann@ours.example', 'joe@example.org', 1, 65536)"},
      {"a first day after the last", "INSERT INTO pairs VALUES (1, 'ann@ours.example', 'joe@example.org', 2, 1)"},
      {"a count that has run over", "UPDATE state SET last_change = 4611686018427387905"},
      {"another table of the state", "ALTER TABLE state ADD COLUMN more INTEGER"},
      {"no table of the hosts", "DROP TABLE heard"},
      {"a table with other columns",
       "DROP TABLE pairs; CREATE TABLE pairs (change, user, correspondent, first_use, last_use)"},
      {"a view in the place of the table",
       "DROP TABLE pairs; CREATE VIEW pairs AS SELECT 1, 'a@b.example', 'c@d.example', 1, 1"},
      {"no table of what was forgotten", "DROP TABLE forgotten"},
  }));
  CAPTURE(name);
  // The first and the last of all days and numbers are no damage.
  run_sql(path(),
          "INSERT INTO pairs VALUES (9, 'bob@ours.example', 'joe@example.org', 0, 65535);"
          "INSERT INTO heard VALUES (1, 1, 0), (2, 1, 4611686018427387904);"
          "UPDATE state SET last_change = 4611686018427387904");
  CHECK(pairs_of_path().size() == 1);
  CHECK(LearnedFile(path(), LearnedFile::Access::read).heard_forgets().size() == 2);
  run_sql(path(), sql);
  CHECK(code_of_reading() == ErrorCode::bad_input);
}

TEST_CASE_METHOD(Fixture, "an error about a row that our code cannot have written says what is wrong with it") {
  create();
  SECTION("an address with upper case") {
    run_sql(path(), "INSERT INTO pairs VALUES (1, 'Ann@ours.example', 'joe@example.org', 1, 1)");
    CHECK_THROWS_WITH(pairs_of_path(), Contains("row 1") && Contains("Ann@ours.example"));
  }
  SECTION("the bytes of an address that are no text") {
    run_sql(path(), "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '')");
    run_sql(path(), "INSERT INTO pairs VALUES (1, 'ann@ours.example', CAST('joe@example.org' AS BLOB), 1, 1)");
    run_sql(path(),
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE type = 'table'");
    CHECK_THROWS_WITH(pairs_of_path(), Contains("row 1") && Contains("no text"));
  }
  SECTION("a text that is far too long") {
    run_sql(path(), "INSERT INTO pairs VALUES (1, 'ann@ours.example', hex(zeroblob(1000000)), 1, 1)");
    CHECK(code_of_reading() == ErrorCode::bad_input);
    CHECK_THROWS_WITH(pairs_of_path(), Contains("too big"));  // before it takes memory
  }
  SECTION("a forget that is missing among others") {
    run_sql(path(),
            "INSERT INTO forgotten VALUES (1, 5, 1, 20780, 0), (3, 5, 1, 20780, 0); UPDATE state SET forgets = 3");
    LearnedFile file(path(), LearnedFile::Access::write);
    CHECK(error_code_of([&] { file.forgets(); }) == ErrorCode::bad_input);
    const Contact contact = {.user = "ann@ours.example", .correspondent = "joe@example.org", .began = LearnedBegin{}};
    CHECK(error_code_of([&] { file.record(std::span(&contact, 1), kMonday); }) == ErrorCode::bad_input);
    CHECK(file.count() == 0);
  }
  SECTION("numbers that no forget and no file has") {
    const auto [sql, says] = GENERATE(table<const char*, const char*>({
        {"INSERT INTO forgotten VALUES (2, 5, 1, 20780, 0)", "'forgotten' is damaged"},
        {"INSERT INTO forgotten VALUES (1, 5, 1, 65536, 0)", "'forgotten' is damaged"},
        {"INSERT INTO heard VALUES (1, 1, -1)", "'heard' has a number out of range"},
        {"INSERT INTO heard VALUES (1, 1, 4611686018427387905)", "'heard' has a number out of range"},
        {"UPDATE state SET source = 0", "no number of its own"},
    }));
    run_sql(path(), std::string("UPDATE state SET forgets = 1; ") + sql);
    LearnedFile file(path(), LearnedFile::Access::read);
    CHECK_THROWS_WITH(file.news_since({}, [](const LearnedPair&) {}), Contains(path()) && Contains(says));
  }
  SECTION("no state") {
    LearnedFile file(path(), LearnedFile::Access::read);
    run_sql(path(), "DELETE FROM state");
    CHECK_THROWS_WITH(file.source(), Contains(path()) && Contains("does not answer"));
    CHECK(code_of_reading() == ErrorCode::bad_input);
    CHECK_THROWS_WITH(pairs_of_path(), Contains("has no row"));
  }
}

TEST_CASE_METHOD(Fixture, "a trigger in the file does nothing") {
  LearnedFile file(path(), LearnedFile::Access::create);
  run_sql(path(), "CREATE TRIGGER t AFTER INSERT ON pairs BEGIN DELETE FROM pairs; END");
  file.record(std::vector<Contact>{{"ann@ours.example", "joe@example.org"}}, kMonday);
  CHECK(pairs_of(file).size() == 1);
}

TEST_CASE_METHOD(Fixture, "a step that the disk has no room for changes nothing, and the next one works") {
  LearnedFile file(path(), LearnedFile::Access::create);
  file.record(std::vector<Contact>{{"ann@ours.example", "joe@example.org"}}, kMonday);
  const Pairs before = pairs_of(file);
  std::vector<Contact> many;
  for (int i = 0; i < 5000; ++i) many.push_back({"ann@ours.example", "c" + std::to_string(i) + "@example.org"});
  {
    const LargestFile small(100'000);
    CHECK(error_code_of([&] { file.record(many, kMonday); }) == ErrorCode::cannot_write);
  }
  CHECK(pairs_of(file) == before);
  CHECK(file.record(many, kMonday).added == 5000);
}

TEST_CASE_METHOD(Fixture, "random steps of two processes with the file open leave what a map would have") {
  LearnedFile one(path(), LearnedFile::Access::create);
  LearnedFile other(path(), LearnedFile::Access::write);
  std::minstd_rand random(7);
  Pairs want;
  const auto name = [&](const char* domain, unsigned of) { return "p" + std::to_string(random() % of) + domain; };
  for (int step = 0; step < 600; ++step) {
    CAPTURE(step);
    LearnedFile& file = random() % 2 == 0 ? one : other;
    const LearnedDay now = kMonday + days(step / 10);
    const unsigned long what = random() % 10;
    if (what < 8) {
      std::vector<Contact> contacts;
      for (unsigned i = 0; i < 1 + random() % 4; ++i) {
        contacts.push_back({name("@ours.example", 8), name("@example.org", 12), random() % 3 == 0});
      }
      for (const Contact& contact : contacts) {
        const auto found = want.find({contact.user, contact.correspondent});
        if (found != want.end()) {
          found->second.last = now;
        } else if (!contact.is_renewal) {
          want[{contact.user, contact.correspondent}] = {now, now};
        }
      }
      file.record(contacts, now);
    } else if (what == 8) {
      const std::string person = random() % 2 == 0 ? name("@ours.example", 8) : name("@example.org", 12);
      std::erase_if(want, [&](const auto& pair) { return pair.first.first == person || pair.first.second == person; });
      file.forget(canonicalize_line(person), kMonday);
    } else {
      const LearnedDay limit = now - days(5);
      std::erase_if(want, [&](const auto& pair) { return pair.second.last < limit; });
      while (file.expire(limit, 7) != 0) {
      }
    }
    REQUIRE(pairs_of(random() % 2 == 0 ? one : other) == want);
    REQUIRE(one.count() == want.size());
  }
}

}  // namespace
}  // namespace bloomgate::test
