#include "filter/ingest/reject_log.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using Lines = std::vector<std::string>;

const LineFault kBadWord = {"bad-word", "it is a bad word"};
const LineFault kAwry = {"awry", "it is awry"};

struct WithLog : test::InFolder {
  std::string path = folder.file("rejects");
  Lines shown;
  std::function<void(std::string_view)> show = [this](std::string_view line) { shown.emplace_back(line); };
};

TEST_CASE_METHOD(WithLog, "rejected lines are shown and written in the order of the text, whatever block comes first") {
  {
    RejectLog log(path, {"a", "b"}, show);
    log.add({.input = 0, .index = 2, .lines = 5, .rejected = {{2, kAwry, "last"}}});
    log.add({.input = 0, .index = 0, .lines = 100});
    CHECK(shown.empty());
    log.add({.input = 1, .index = 0, .lines = 1, .rejected = {{1, kBadWord, "own"}}});
    log.add(
        {.input = 0, .index = 1, .lines = 10, .blank = 4, .rejected = {{3, kBadWord, "x\ny\nz", 3}}, .excepted = 2});
    CHECK(shown == Lines{"b:1: bad-word: it is a bad word: 'own'",
                         "a:103: bad-word: it is a bad word (3 lines): 'x\\x0ay\\x0az'",
                         "a:112: awry: it is awry: 'last'"});
    log.add_excepted(40);
    CHECK(log.excepted() == 42);
    CHECK(log.count() == 5);
    CHECK(log.lines() == 112);
    CHECK(log.kinds() == "4 bad-word, 1 awry");
    log.show_kinds();
    CHECK(shown.back() == "rejected: 4 bad-word, 1 awry; the lines are in " + path);
    log.keep();
  }
  CHECK(test::read_file(path) == "# b:1: bad-word\nown\n# a:103: bad-word\nx\ny\nz\n# a:112: awry\nlast\n");
}

TEST_CASE_METHOD(WithLog, "two lines of each kind are shown, and their kinds only if there are more") {
  RejectLog log({}, {"a"}, show);
  std::uint64_t index = 0;
  const auto add = [&](const LineFault& fault, const std::string& text) {
    log.add({.index = index++, .lines = 1, .rejected = {{1, fault, text}}});
  };
  add(kBadWord, std::string(60, 'x'));
  add(kBadWord, std::string(61, 'x'));
  log.show_kinds();
  REQUIRE(shown.size() == 2);
  CHECK_THAT(shown[0], Catch::EndsWith(": '" + std::string(60, 'x') + "'"));
  CHECK_THAT(shown[1], Catch::EndsWith(": '" + std::string(60, 'x') + "...'"));
  add(kBadWord, "third");
  add(kAwry, "first");
  log.show_kinds();
  REQUIRE(shown.size() == 4);
  CHECK_THAT(shown[2], Catch::StartsWith("a:4: awry: "));
  CHECK(shown[3] == "rejected: 3 bad-word, 1 awry");
}

TEST_CASE_METHOD(WithLog, "the lines before a share are counted once, and only where a line is shown") {
  RejectLog log({}, {"a", "b"}, show);
  std::vector<std::size_t> asked;
  log.count_from([&](std::size_t input) {
    asked.push_back(input);
    return std::uint64_t{1000};
  });
  log.add({.input = 0, .index = 0, .lines = 7});
  log.add({.input = 1, .index = 0, .lines = 3, .rejected = {{2, kAwry, "x"}, {3, kAwry, "x"}}});
  CHECK(asked == std::vector<std::size_t>{1});
  CHECK(shown == Lines{"b:1002: awry: it is awry: 'x'", "b:1003: awry: it is awry: 'x'"});
}

TEST_CASE_METHOD(WithLog, "ten broad entries are shown with their places, and more are only counted") {
  for (const std::uint64_t count : {10U, 11U}) {
    CAPTURE(count);
    shown.clear();
    RejectLog log({}, {"a"}, show);
    BlockReport report = {.lines = 20};
    report.add_broad("@usual.example", Breadth::usual, 1);
    for (std::uint64_t i = 0; i < count; ++i) report.add_broad("@com", Breadth::public_suffix, 2 + i);
    CHECK(report.broad.size() == 10);
    log.add(report);
    CHECK(log.broad_counts().sum() == count);
    REQUIRE(shown.size() == count);
    CHECK_THAT(shown[0], Catch::StartsWith("a:2: warning: @com is a public suffix"));
    CHECK_THAT(shown[9], Catch::StartsWith("a:11: warning: "));
    report.index = 1;
    log.add(report);
    CHECK(shown.size() == 11);
    CHECK_THAT(shown[10], Catch::StartsWith("further warnings "));
  }
}

TEST_CASE_METHOD(WithLog, "another run over the same lists shows nothing again, and counts and writes from the start") {
  RejectLog log(path, {"a"}, show);
  for (int run = 0; run < 2; ++run) {
    BlockReport report = {.lines = 2, .rejected = {{1, kAwry, "x"}}, .excepted = 3};
    report.add_broad("@com", Breadth::public_suffix, 2);
    log.add(report);
    CHECK(log.count() == 1);
    CHECK(log.lines() == 2);
    CHECK(log.kinds() == "1 awry");
    CHECK(log.broad_counts().sum() == 1);
    CHECK(log.excepted() == 3);
    CHECK(shown.size() == 2);
    if (run == 0) log.restart();
  }
  log.keep();
  CHECK(test::read_file(path) == "# a:1: awry\nx\n");
}

TEST_CASE_METHOD(WithLog,
                 "a file of rejected lines stays only if it was kept, and one that cannot be written is named") {
  {
    const RejectLog log(path, {"a"}, show);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  const std::string missing = folder.file("none/rejects");
  const BloomgateError none = test::error_of([&] { RejectLog(missing, {"a"}, show); });
  CHECK(none.code() == ErrorCode::cannot_write);
  CHECK_THAT(none.what(), Catch::Contains("create " + missing + ": No such file"));
  RejectLog log("/dev/full", {"a"}, show);
  log.add({.lines = 1, .rejected = {{1, kAwry, "x"}}});
  const BloomgateError full = test::error_of([&] { log.keep(); });
  CHECK(full.code() == ErrorCode::cannot_write);
  CHECK_THAT(full.what(), Catch::Contains("write /dev/full: No space left on device"));
}

TEST_CASE("a line without an entry is blank or rejected with its text, of which a long one is cut") {
  BlockReport report;
  const std::string overlong(kMaxInputBytes + 2, 'x');
  report.add_line_without_entry(read_text_line("# comment", {}), 1, "# comment");
  report.add_line_without_entry(read_text_line(overlong, {}), 2, overlong);
  report.add_line_without_entry({.entry = {}, .fault = kAwry}, 3, overlong + "\n");
  CHECK(report.blank == 1);
  REQUIRE(report.rejected.size() == 2);
  CHECK(report.rejected[0].line == 2);
  CHECK(report.rejected[0].lines == 1);
  CHECK(report.rejected[0].text.size() == kMaxInputBytes + 1);
  CHECK(report.rejected[1].lines == 2);
  CHECK(report.rejected[1].text.size() == kMaxInputBytes + 3);
}

}  // namespace
}  // namespace bloomgate
