// What SQLite refuses, as an error that says what to do; and what a file may not make it do.
#include "filter/learned/sqlite.hpp"

#include <fstream>
#include <string>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;

struct OneTable : WithPath {
  OneTable() {
    std::ofstream(path).flush();
    database().run("CREATE TABLE t (number INTEGER PRIMARY KEY, text TEXT) STRICT; INSERT INTO t VALUES (1, 'x')");
  }
  Database database(bool for_writing = true) const { return {path, for_writing, 0ms}; }
};

TEST_CASE_METHOD(OneTable, "an error of a database has a code and the remedy") {
  const auto [statements, code, says] = GENERATE(table<const char*, ErrorCode, const char*>({
      {"SELEC", ErrorCode::library_failed, "syntax error"},
      {"INSERT INTO t VALUES ('one', 'x')", ErrorCode::bad_input, "move it away"},
      {"INSERT INTO t VALUES (2, hex(zeroblob(40000)))", ErrorCode::bad_input, "move it away"},
      {"PRAGMA max_page_count = 2; INSERT INTO t VALUES (2, hex(zeroblob(30000)))", ErrorCode::cannot_write,
       "the disk is full"},
  }));
  CAPTURE(statements);
  Database writing = database();
  const BloomgateError error = error_of([&] { writing.run(statements); });
  CHECK(error.code() == code);
  CHECK_THAT(error.what(), Contains(path + ": ") && Contains(says));
}

TEST_CASE_METHOD(OneTable, "a database that another program writes to, or that only may be read, says so") {
  Database first = database();
  const Transaction writes(first, true);
  Database second = database();
  const BloomgateError locked = error_of([&] { Transaction(second, true); });
  CHECK(locked.code() == ErrorCode::cannot_write);
  CHECK_THAT(locked.what(), Contains("another program is writing to it, try again"));
  Database reading = database(false);
  const BloomgateError read_only = error_of([&] { reading.run("DELETE FROM t"); });
  CHECK(read_only.code() == ErrorCode::cannot_write);
  CHECK_THAT(read_only.what(), Contains("this user must be able to write to the file"));
}

TEST_CASE_METHOD(OneTable, "a path that is no database is refused, with the remedy") {
  const auto error_for = [](const std::string& name) { return error_of([&] { Database(name, false, 0ms); }); };
  // SQLite has names for databases that are no files.
  for (const std::string& name : {std::string(":memory:"), path + "-none"}) {
    CHECK(error_for(name).code() == ErrorCode::cannot_open);
    CHECK_THAT(error_for(name).what(), Contains("the file must be there"));
  }
  std::ofstream(path, std::ios::trunc) << std::string(5000, 'x');
  const BloomgateError error = error_of([&] { database().run("SELECT 1 FROM t"); });
  CHECK(error.code() == ErrorCode::bad_input);
  CHECK_THAT(error.what(), Contains("name the file of the option learn-file"));
}

TEST_CASE_METHOD(OneTable, "nothing in a file is executed, and no other file is reached") {
  database().run("CREATE VIEW v AS SELECT 1; CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END");
  Database opened = database();
  CHECK(error_code_of([&] { opened.run("SELECT * FROM v"); }) == ErrorCode::library_failed);
  CHECK(error_code_of([&] { opened.run("ATTACH ':memory:' AS other"); }) == ErrorCode::library_failed);
  opened.run("PRAGMA writable_schema = ON");
  CHECK(error_code_of([&] { opened.run("DELETE FROM sqlite_schema"); }) == ErrorCode::library_failed);
  opened.run("INSERT INTO t VALUES (2, 'y')");
  const auto answer = [&](const char* question) {
    Query query(opened, question);
    REQUIRE(query.next());
    return query.integer(0);
  };
  CHECK(answer("SELECT count(*) FROM t") == 2);
  CHECK(answer("PRAGMA trusted_schema") == 0);
  CHECK(answer("PRAGMA cell_size_check") == 1);
  CHECK(answer("PRAGMA mmap_size") == 0);
}

TEST_CASE_METHOD(OneTable, "a column of another type has no value, and a transaction without commit changes nothing") {
  Database opened = database();
  {
    const Transaction dropped(opened, true);
    opened.run("INSERT INTO t VALUES (2, 'y')");
    CHECK(opened.changed_rows() == 1);
  }
  Query query(opened, "SELECT number, text, NULL FROM t WHERE number >= ?1 AND text <= ?2");
  query.bind(1, std::int64_t{1});
  query.bind(2, std::string_view("z"));
  REQUIRE(query.next());
  CHECK(query.integer(0) == 1);
  CHECK(query.text(1) == "x");
  for (const int column : {1, 2}) CHECK_FALSE(query.integer(column));
  for (const int column : {0, 2}) CHECK_FALSE(query.text(column));
  CHECK_FALSE(query.next());
  CHECK(error_code_of([&] { query.bind(3, std::int64_t{1}); }) == ErrorCode::library_failed);
  CHECK(error_code_of([&] { query.bind(3, std::string_view("z")); }) == ErrorCode::library_failed);
  CHECK(error_code_of([&] { Query(opened, "SELECT none FROM t"); }) == ErrorCode::library_failed);
}

}  // namespace
}  // namespace bloomgate::test
