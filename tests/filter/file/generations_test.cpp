#include "filter/file/generations.hpp"

#include <sys/stat.h>

#include <map>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

class Folder {
 public:
  std::string path() const { return folder_.file("filter"); }

  // As a build does.
  void replace(const std::string& text, unsigned kept) const {
    test::write_file(folder_.file("new"), text);
    keep_generation(path(), kept);
    std::filesystem::rename(folder_.file("new"), path());
  }

  // What each file holds, by its name.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(folder_.path())) {
      found[each.path().filename().string()] = test::read_file(each.path());
    }
    return found;
  }

 private:
  test::TemporaryFolder folder_;
};

using Files = std::map<std::string, std::string>;

TEST_CASE("as many filters are kept as were asked for, the last one first") {
  const Folder folder;
  for (const char* const text : {"a", "b", "c", "d"}) folder.replace(text, 2);
  CHECK(folder.files() == Files{{"filter", "d"}, {"filter.1", "c"}, {"filter.2", "b"}});
  folder.replace("e", 1);
  CHECK(folder.files() == Files{{"filter", "e"}, {"filter.1", "d"}});
  folder.replace("f", 0);  // not asked: what was kept is left alone
  CHECK(folder.files() == Files{{"filter", "f"}, {"filter.1", "d"}});
}

TEST_CASE("a gap in the numbers is filled before a kept filter goes") {
  const Folder folder;
  for (const char* const text : {"a", "b", "c", "d"}) folder.replace(text, 3);
  std::filesystem::remove(folder.path() + ".2");
  folder.replace("e", 3);
  CHECK(folder.files() == Files{{"filter", "e"}, {"filter.1", "d"}, {"filter.2", "c"}, {"filter.3", "a"}});
}

TEST_CASE("a build that was killed after it had kept the old filter does not make the next one keep it twice") {
  const Folder folder;
  for (const char* const text : {"a", "b"}) folder.replace(text, 2);
  keep_generation(folder.path(), 2);
  folder.replace("c", 2);
  CHECK(folder.files() == Files{{"filter", "c"}, {"filter.1", "b"}, {"filter.2", "a"}});
}

TEST_CASE("a kept filter that cannot be renamed is not lost") {
  const Folder folder;
  for (const char* const text : {"a", "b"}) folder.replace(text, 2);
  std::filesystem::create_directories(folder.path() + ".2/in-the-way");
  CHECK_THROWS_AS(keep_generation(folder.path(), 2), BloomgateError);
  CHECK(test::read_file(folder.path() + ".1") == "a");
  CHECK(test::read_file(folder.path()) == "b");
}

TEST_CASE("up to 99 filters that were kept are found") {
  const Folder folder;
  for (const unsigned number : {1U, 99U, 100U}) test::write_file(generation_path(folder.path(), number), "a");
  const std::vector<Generation> kept = kept_generations(folder.path());
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].number == 1);
  CHECK(kept[1].number == 99);
}

TEST_CASE("a kept filter is the same file, not a copy") {
  const Folder folder;
  test::write_file(folder.path(), "a");
  keep_generation(folder.path(), 1);
  CHECK(std::filesystem::hard_link_count(folder.path()) == 2);
  CHECK(kept_generations(folder.path()).size() == 1);
}

TEST_CASE("without a file there is nothing to keep, and a trial leaves nothing") {
  const Folder folder;
  keep_generation(folder.path(), 3);
  require_can_keep(folder.path());
  CHECK(folder.files().empty());
  test::write_file(folder.path(), "a");
  require_can_keep(folder.path());
  CHECK(folder.files() == Files{{"filter", "a"}});
}

TEST_CASE("two files exchange their names, and the same call undoes it") {
  const Folder folder;
  for (const char* const text : {"a", "b", "c"}) folder.replace(text, 2);
  exchange_generation(folder.path(), 1);
  CHECK(folder.files() == Files{{"filter", "b"}, {"filter.1", "c"}, {"filter.2", "a"}});
  exchange_generation(folder.path(), 1);
  exchange_generation(folder.path(), 2);
  CHECK(folder.files() == Files{{"filter", "a"}, {"filter.1", "b"}, {"filter.2", "c"}});
}

TEST_CASE("on a file system that cannot exchange names, links do it") {
  const Folder folder;
  for (const char* const text : {"a", "b"}) folder.replace(text, 1);
  CHECK(exchange_by_links(folder.path(), generation_path(folder.path(), 1)) == 0);
  CHECK(folder.files() == Files{{"filter", "a"}, {"filter.1", "b"}});
  CHECK(exchange_by_links(folder.path(), generation_path(folder.path(), 2)) == ENOENT);
  CHECK(folder.files() == Files{{"filter", "a"}, {"filter.1", "b"}});
}

TEST_CASE("a kept filter replaces a missing one, and a missing generation is an error") {
  const Folder folder;
  for (const char* const text : {"a", "b"}) folder.replace(text, 1);
  std::filesystem::remove(folder.path());
  exchange_generation(folder.path(), 1);
  CHECK(folder.files() == Files{{"filter", "a"}});
  try {
    exchange_generation(folder.path(), 1);
    FAIL("nothing was there to exchange");
  } catch (const BloomgateError& error) {
    CHECK(error.code() == ErrorCode::cannot_open);
    CHECK_THAT(error.what(), Catch::Contains("filter.1 is not there") && Catch::Contains("--keep"));
  }
}

}  // namespace
}  // namespace bloomgate
