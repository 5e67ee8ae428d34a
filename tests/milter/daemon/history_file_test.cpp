#include "milter/daemon/history_file.hpp"

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using std::chrono::minutes;

constexpr DecisionHistory::Time kNow = std::chrono::sys_days(std::chrono::November / 29 / 2026) + minutes(615);

struct Kept : InFolder {
  const std::string path = folder.file("history");
  DecisionHistory history;
  std::vector<std::string> warnings;
  HistoryFile::Warn warn = [this](const std::string& what) { warnings.push_back(what); };
};

TEST_CASE_METHOD(Kept, "a history outlives the daemon") {
  {
    HistoryFile file(path, history, kNow, warn);
    history.add(kNow, {.delivered = 5});
    history.add(kNow + minutes(1), {.delivered = 3, .checked = 1});
  }
  DecisionHistory later;
  const HistoryFile file(path, later, kNow + minutes(2), warn);
  later.add(kNow + minutes(2), {.delivered = 2});
  CHECK(later.quarters().of(kNow) == MessageCounts{.delivered = 10, .checked = 1});
  CHECK(later.minutes().of(kNow) == MessageCounts{.delivered = 5});
  CHECK(warnings.empty());
}

TEST_CASE_METHOD(Kept, "the history is written at the start, in each new quarter of an hour, and at the end") {
  {
    HistoryFile file(path, history, kNow, warn);
    CHECK(read_file(path) == "bloomgate history 1\n");
    history.add(kNow, {.delivered = 1});
    file.tick(kNow + minutes(14));
    CHECK(read_file(path) == "bloomgate history 1\n");
    file.tick(kNow + minutes(15));
    CHECK_THAT(read_file(path), Contains(" 1 0 0 0\n"));
    history.add(kNow, {.delivered = 1});
  }
  CHECK_THAT(read_file(path), Contains(" 2 0 0 0\n"));
}

TEST_CASE_METHOD(Kept, "a second daemon that names the same file is told so, and leaves it to the first") {
  HistoryFile file(path, history, kNow, warn);
  DecisionHistory other;
  other.add(kNow, {.checked = 9});
  {
    HistoryFile second(path, other, kNow, warn);
    second.tick(kNow + minutes(15));
  }
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("another daemon keeps its history in '" + path + "'"));
  CHECK(read_file(path) == "bloomgate history 1\n");
}

TEST_CASE_METHOD(Kept, "a file that is no history is named, and stays as it is") {
  write_file(path, "root:x:0:0\n");
  {
    HistoryFile file(path, history, kNow, warn);
    file.tick(kNow + minutes(15));
  }
  CHECK(read_file(path) == "root:x:0:0\n");
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], StartsWith("history-file: line 1 of '" + path +
                                     "' is not a line of a history: remove the file and restart the daemon"));
}

TEST_CASE_METHOD(Kept, "a folder, and a file that is far too large for a history, are left as they are") {
  std::filesystem::create_directory(path);
  {
    const HistoryFile file(path, history, kNow, warn);
  }
  CHECK(std::filesystem::is_directory(path));
  CHECK(warnings.size() == 1);
  const std::string large = folder.file("large");
  write_file(large, "bloomgate history 1\n" + std::string(1U << 20U, '\n'));
  {
    const HistoryFile file(large, history, kNow, warn);
  }
  CHECK(warnings.size() == 2);
  CHECK(std::filesystem::file_size(large) > 1U << 20U);
}

TEST_CASE_METHOD(Kept, "a history that cannot be written is named once") {
  HistoryFile file(folder.file("none") + "/history", history, kNow, warn);
  file.tick(kNow + minutes(15));
  file.tick(kNow + minutes(30));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("the charts of the status page do not outlive the daemon"));
}

}  // namespace
}  // namespace bloomgate::test
