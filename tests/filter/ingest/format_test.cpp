#include "filter/ingest/format.hpp"

#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/ingest/csv_format.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/repeated.hpp"

namespace bloomgate {
namespace {

// What a block of that text comes to, a line each: its key, "-" where it is no entry, or "! reason".
std::string read_all(const std::string& format_name, const std::string& text) {
  const auto format = make_format(format_name, 1);
  Block block;
  block.text = text;
  format->start_block(block, "list");
  std::string result;
  for_each_line(block, *format, {}, [&](const ListLine& line, std::uint64_t number, std::string_view) {
    const std::string said = line.entry.is_key()                        ? std::string(line.entry.key())
                             : line.entry.kind() == EntryKind::rejected ? "! " + std::string(line.fault.name)
                                                                        : "-";
    result += std::to_string(number) + " " + said + "\n";
  });
  return result;
}

TEST_CASE("a key of a Postfix table is an entry only if its value permits it") {
  struct Row {
    std::string line;
    std::string want;
  };
  const Row row = GENERATE(values<Row>({
      {"joe@example.org OK", "joe@example.org"},
      {"joe@example.org\tok trusted since 2019 ", "joe@example.org"},
      {"Joe@Example.ORG   relay\r", "joe@example.org"},
      {"joe@example.org permit", "joe@example.org"},
      {"joe@example.org 1", "joe@example.org"},
      {"joe@example.org 200", "joe@example.org"},
      {"example.org OK", "@example.org"},
      {".example.org OK", "@.example.org"},
      {"\"joe doe\"@example.org OK", "\"joe doe\"@example.org"},
      {"example.org smtp:[192.0.2.1]:25", "@example.org"},
      {"example.org local:", "@example.org"},
      {"example.org :", "@example.org"},
      {"example.org smtp-amavis:[127.0.0.1]:10024", "@example.org"},
      {"example.org my_smtp:", "@example.org"},
      {"example.org my.smtp:", "! map-unknown-value"},
      {"joe@example.org 55", "joe@example.org"},
      {"joe@example.org 5500", "joe@example.org"},
      {"joe@example.org 5x", "! map-unknown-value"},
      {"joe@example.org 2.0.0", "! map-unknown-value"},
      {"", "-"},
      {"# joe@example.org OK", "-"},
      {"   # joe@example.org OK", "-"},
      {"  joe@example.org OK", "-"},
      {"joe@example.org REJECT", "-"},
      {"joe@example.org reject we know you", "-"},
      {"joe@example.org DISCARD", "-"},
      {"joe@example.org DEFER", "-"},
      {"joe@example.org DEFER_IF_PERMIT later", "-"},
      {"joe@example.org DUNNO", "-"},
      {"joe@example.org HOLD", "-"},
      {"joe@example.org FILTER smtp:[127.0.0.1]", "-"},
      {"joe@example.org 550", "-"},
      {"joe@example.org 450 later", "-"},
      {"joe@example.org 5.7.1 go away", "-"},
      {"joe@example.org reject_unauth_destination", "-"},
      {"example.org error:5.1.1 no such user", "-"},
      {"example.org error:", "-"},
      {"example.org discard:", "-"},
      {"example.org retry:4.0.0 later", "-"},
      {"joe@example.org", "! map-no-value"},
      {"joe@example.org ", "! map-no-value"},
      {"joe@example.org OKAY", "! map-unknown-value"},
      {"joe@example.org OK, reject", "! map-unknown-value"},
      {"joe@example.org permit_mynetworks, reject", "! map-unknown-value"},
      {"joe@example.org spammer", "! map-unknown-value"},
      {"joe@example.org 200 spammer", "! map-unknown-value"},
      {"joe@example.org smtp:[192.0.2.1] spammer", "! map-unknown-value"},
      {"joe@example.org http://spam.example/", "! map-unknown-value"},
      {"192.0.2.1 OK", "! map-network"},
      {"192.0.2 OK", "! map-network"},
      {"2001:db8::1 OK", "! map-network"},
      {"::1 OK", "! map-network"},
      {"a:b OK", "! bad-domain-character"},
      {"joe@ OK", "! empty-domain"},
      {"* smtp:", "! bad-domain-character"},
      {"<> OK", "! bad-domain-character"},
      {"list:example.org OK", "! bad-domain-character"},
      {"list:*.example.org OK", "! bad-domain-character"},
      {"list:a@example.org OK", "! bad-local-part-character"},
      {"list:example.org list:", "! bad-domain-character"},
      {"\"list:a\"@example.org OK", "\"list:a\"@example.org"},
      {"joe@example.org signed-by esp.example", "! map-unknown-value"},
      {"joe@example.org signed-by: OK", "! map-unknown-value"},
      {"\"joe@example.org signed-by esp.example\" OK", "! missing-at-sign"},
      {"joe@example.org\\ signed-by\\ esp.example OK", "! bad-domain-character"},
      {"\"a signed-by b\"@example.org OK", "\"a signed-by b\"@example.org"},
  }));
  CAPTURE(row.line);
  CHECK(read_all("postfix-map", row.line) == (row.line.empty() ? "" : "1 " + row.want + "\n"));
}

TEST_CASE("a value on the next line of a Postfix table is not read") {
  CHECK(read_all("postfix-map", "joe@example.org\n  OK\nann@example.org OK\n  REJECT\n# the end\n") ==
        "1 ! map-no-value\n2 -\n3 ann@example.org\n4 -\n5 -\n");
}

TEST_CASE("a row of CSV is cut as RFC 4180 says") {
  struct Row {
    std::string row;
    std::optional<std::vector<std::string>> want;
  };
  const Row row = GENERATE(values<Row>({
      {"", {{""}}},
      {"a,b", {{"a", "b"}}},
      {"a,b\r\n", {{"a", "b"}}},
      {"a,,", {{"a", "", ""}}},
      {" a , b ", {{" a ", " b "}}},
      {"\"a\",\"b,c\"", {{"a", "b,c"}}},
      {"\"say \"\"hi\"\"\",\"\"", {{"say \"hi\"", ""}}},
      {"\"two\nlines\",b\n", {{"two\nlines", "b"}}},
      {"\"a", std::nullopt},
      {"\"a\"b,c", std::nullopt},
      {"a\"b,c", std::nullopt},
      {"a,\"b\" ", std::nullopt},
  }));
  CAPTURE(row.row);
  CHECK(split_csv_row(row.row, ',') == row.want);
}

TEST_CASE("the first row of a table shows the separator of its fields, and whether it has names") {
  CHECK(read_all("csv:2", "a,b;x@example.org;c\n1;joe@example.org;2\n") == "1 x@example.org\n2 joe@example.org\n");
  CHECK(read_all("csv:mail", "name\tmail\nJoe, the first\tjoe@example.org\n") == "1 -\n2 joe@example.org\n");
  CHECK(read_all("csv:1", "joe@example.org\nann@example.org;x\n") == "1 joe@example.org\n2 ! bad-domain-character\n");
  // In one of its columns there is an address, and it is shorter than the column is far.
  CHECK(read_all("csv:1,2", "joe,ann@example.org\n") == "1 ! missing-at-sign\n");
  CHECK(read_all("csv:3", "name,mail\n") == "1 ! csv-missing-field\n");
}

std::string advice_of(const std::string& text) {
  const auto format = make_format("text", 1);
  Block block;
  block.text = text;
  block.index = 1;
  format->start_block(block, "list");
  CHECK(format->advice().empty());  // only the first block is looked at
  block.index = 0;
  format->start_block(block, "list");
  format->start_block(block, "another");
  return format->advice();
}

TEST_CASE("a list of addresses that looks like a table gets the advice how to read it") {
  const std::string row = "Joe,joe@example.org\n";
  const std::string looks = "list looks like a table: try --format ";
  CHECK(advice_of("name,email\n" + row) == looks + "csv:email");
  CHECK(advice_of("name,e-mail address\n" + row) == looks + "'csv:e-mail address'");
  CHECK(advice_of("name,A_b.9-c:d\n" + row) == looks + "csv:A_b.9-c:d");
  for (const char* names :
       {"name", "name,", "name,email,tel", "name,joe@example.net", "name,\"a,b\"", "name,it's", "name,a\tb"}) {
    CAPTURE(names);
    CHECK(advice_of(std::string(names) + "\n" + row) == looks + "csv:2");
  }
  CHECK(advice_of("joe@example.org,Joe\n") == looks + "csv:1");
  CHECK(advice_of("a,b\n" + test::repeated("no,address\n", 18) + row) == looks + "csv:b");
  CHECK(advice_of("a,b\n" + test::repeated("no,address\n", 19) + row).empty());
  CHECK(advice_of("joe@example.org\nann@example.org\n").empty());
}

TEST_CASE("a map of Postfix, and a list with several addresses in a line, get the advice how to read them") {
  const std::string map = "list looks like a map of Postfix: try --format postfix-map";
  for (const char* text : {"example.org OK\n", "joe\nann@example.org\tREJECT spam\n", "joe@example.org  DUNNO\r\n"}) {
    CAPTURE(text);
    CHECK(advice_of(text) == map);
  }
  for (const char* text :
       {"joe@example.org # OK\n", "joe@example.org\n", "joe@example.org \n", " OK\n", "example.org ok\n"}) {
    CAPTURE(text);
    CHECK(advice_of(text).empty());
  }
  const std::string several = "list has several addresses in a line: put each on a line of its own";
  CHECK(advice_of("joe@example.org, ann@example.org\n") == several);
  CHECK(advice_of("joe@example.org;ann@example.org\n") == several);
  CHECK(advice_of("example.org\njoe@example.org, ann@example.org\n") == several);
}

TEST_CASE("a column of CSV is taken by its number or by its name") {
  const std::string text =
      "\xef\xbb\xbfname,\"e-mail\"\r\n"
      "\"Joe, the first\",joe@example.org\r\n"
      "\"spam\nann@evil.example,ann@evil.example\n\",\"\"\"ann b\"\"@example.org\"\r\n"
      "short\n\n"
      "bad\"quote\",x@example.org\n"
      "empty,\n"
      "wrong,nonsense\n"
      "domain,@example.net";
  const std::string rest =
      "2 joe@example.org\n3 \"ann b\"@example.org\n6 ! csv-missing-field\n7 -\n8 ! csv-bad-quotes\n9 -\n"
      "10 ! missing-at-sign\n11 @example.net\n";
  CHECK(read_all("csv:e-mail", text) == "1 -\n" + rest);
  CHECK(read_all("csv:2", text) == "1 -\n" + rest);
  CHECK(read_all("csv:1", "\xef\xbb\xbfjoe@example.org,x\n") == "1 joe@example.org\n");
  CHECK(read_all("csv:e-mail", "\"two\nlines\",e-mail\r\n\r\nJoe,joe@example.org\r\n") ==
        "1 -\n3 -\n4 joe@example.org\n");
}

TEST_CASE("two columns of CSV make one pair of each row, whatever text their fields hold") {
  const std::string text =
      "user,contact\n"
      "ann@ours.example,Joe@Example.ORG\n"
      ",\n"
      "ann@ours.example,\n"
      "@ours.example,@example.net\n"
      "ann@ours.example,joe@example.org > bob@ours.example\n"
      "ann@ours.example\n";
  const std::string rest =
      "2 joe@example.org\nann@ours.example\n3 -\n4 ! incomplete-pair\n5 @example.net\n@ours.example\n6 ! pair\n"
      "7 ! csv-missing-field\n";
  CHECK(read_all("csv:contact,user", text) == "1 -\n" + rest);
  CHECK(read_all("csv:2,1", text) == "1 -\n" + rest);
  CHECK(read_all("csv:contact,1", text) == "1 -\n" + rest);
  CHECK(read_all("csv:1", "joe@example.org > ann@ours.example,x\n") == "1 joe@example.org\nann@ours.example\n");
}

TEST_CASE("one column of CSV holds any entry of a list, and two hold mailing lists as senders and no signer") {
  const std::string entries =
      "list:a.example.org,ann@ours.example\n"
      "\"list:*.example.org\",@ours.example\n"
      "joe@example.org signed-by esp.example,ann@ours.example\n"
      "joe@example.org,list:a.example.org\n"
      "joe@example.org,ann@ours.example signed-by esp.example\n";
  CHECK(read_all("csv:1", entries) ==
        "1 list:a.example.org\n2 list:*.example.org\n3 joe@example.org signed-by esp.example\n"
        "4 joe@example.org\n5 joe@example.org\n");
  CHECK(read_all("csv:1,2", entries) ==
        "1 list:a.example.org\nann@ours.example\n2 list:*.example.org\n@ours.example\n3 ! trailing-text\n"
        "4 ! missing-at-sign\n5 ! trailing-text\n");
}

TEST_CASE("a row of CSV with misplaced quotes is not an entry") {
  CHECK(read_all("csv:1", "a@example.org,5\" disk\nb@example.org,x\nc@example.org,3\" disk\nd@example.org,x\n") ==
        "1 ! csv-bad-quotes\n4 d@example.org\n");
}

TEST_CASE("a CSV without one of two columns is refused") {
  CHECK_THROWS_WITH(read_all("csv:contact,email", "user,contact\n"), Catch::Contains("no column 'email'"));
}

TEST_CASE("a CSV without the named column is refused with the names of its columns") {
  CHECK_THROWS_WITH(
      read_all("csv:email", "id,\"e-mail\"\n1,joe@example.org\n"),
      "list has no column 'email': its first line has 'id', 'e-mail'; name one of these, or give a number");
  CHECK(test::error_code_of([] { read_all("csv:email", "\"email\nx@example.org\n"); }) == ErrorCode::bad_input);
  CHECK(read_all("csv:email", "").empty());
}

TEST_CASE("where the first row of a CSV is refused, no reader of a later one waits for it") {
  const auto format = make_format("csv:email", 1);
  Block block;
  block.text = "id\n";
  CHECK_THROWS_AS(format->start_block(block, "list"), BloomgateError);
  block.index = 1;
  format->start_block(block, "list");
  CHECK_THROWS_AS(format->read(block, "joe@example.org", {}), BloomgateError);
}

TEST_CASE("an unknown format is refused") {
  for (const std::string name :
       {"", "csv", "csv:", "csv:0", "csv:1,", "csv:,1", "csv:1,0", "csv:1,2,3", "csv:a,b,c", "TEXT", "postfix"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(make_format(name, 1), UsageError);
  }
  CHECK_THROWS_WITH(make_format("csv:0", 1), "--format csv: counts columns from 1");
  CHECK_THROWS_WITH(make_format("csv:1,", 1), Catch::StartsWith("--format csv: takes a column, or one of senders"));
  CHECK_THROWS_WITH(make_format("csv:a,b,c", 1), Catch::StartsWith("--format csv: takes at most two columns"));
  CHECK_THROWS_WITH(make_format("csv", 1), Catch::EndsWith(", not 'csv'"));
}

}  // namespace
}  // namespace bloomgate
