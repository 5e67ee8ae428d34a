#include "filter/keep/generations.hpp"

#include <map>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

class Folder {
 public:
  std::string path() const { return folder_.file("filter"); }

  // As a build does.
  void replace(const std::string& text, unsigned kept) const {
    write_file(folder_.file("new"), text);
    keep_generation(path(), kept);
    std::filesystem::rename(folder_.file("new"), path());
  }

  // What each file holds, by its name.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(folder_.path())) {
      found[each.path().filename().string()] = read_file(each.path());
    }
    return found;
  }

 private:
  TemporaryFolder folder_;
};

using Files = std::map<std::string, std::string>;

TEST_CASE_METHOD(Folder, "as many filters are kept as were asked for, the last one first") {
  for (const char* const text : {"a", "b", "c", "d"}) replace(text, 2);
  CHECK(files() == Files{{"filter", "d"}, {"filter.1", "c"}, {"filter.2", "b"}});
  replace("e", 1);
  CHECK(files() == Files{{"filter", "e"}, {"filter.1", "d"}});
  replace("f", 0);  // not asked: what was kept is left alone
  CHECK(files() == Files{{"filter", "f"}, {"filter.1", "d"}});
}

TEST_CASE_METHOD(Folder, "a gap in the numbers is filled before a kept filter goes") {
  for (const char* const text : {"a", "b", "c", "d"}) replace(text, 3);
  std::filesystem::remove(path() + ".2");
  replace("e", 3);
  CHECK(files() == Files{{"filter", "e"}, {"filter.1", "d"}, {"filter.2", "c"}, {"filter.3", "a"}});
}

TEST_CASE_METHOD(Folder,
                 "a build that was killed after it had kept the old filter does not make the next one keep it twice") {
  for (const char* const text : {"a", "b"}) replace(text, 2);
  keep_generation(path(), 2);
  replace("c", 2);
  CHECK(files() == Files{{"filter", "c"}, {"filter.1", "b"}, {"filter.2", "a"}});
}

TEST_CASE_METHOD(Folder, "a kept filter that cannot be renamed is not lost") {
  for (const char* const text : {"a", "b"}) replace(text, 2);
  std::filesystem::create_directories(path() + ".2/in-the-way");
  CHECK_THROWS_AS(keep_generation(path(), 2), BloomgateError);
  CHECK(read_file(path() + ".1") == "a");
  CHECK(read_file(path()) == "b");
}

TEST_CASE_METHOD(Folder, "up to 99 filters that were kept are found") {
  for (const unsigned number : {1U, 99U, 100U}) write_file(generation_path(path(), number), "a");
  const std::vector<Generation> kept = kept_generations(path());
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].number == 1);
  CHECK(kept[1].number == 99);
}

TEST_CASE_METHOD(Folder, "a kept filter is the same file, not a copy") {
  write_file(path(), "a");
  keep_generation(path(), 1);
  CHECK(std::filesystem::hard_link_count(path()) == 2);
  CHECK(kept_generations(path()).size() == 1);
}

TEST_CASE_METHOD(Folder, "without a file there is nothing to keep, and a trial leaves nothing") {
  keep_generation(path(), 3);
  require_can_keep(path(), 1, kFilterMagic);
  CHECK(files().empty());
  write_file(path(), "a");
  require_can_keep(path(), 1, kFilterMagic);
  CHECK(files() == Files{{"filter", "a"}});
}

TEST_CASE_METHOD(Folder, "two files exchange their names, and the same call undoes it") {
  for (const char* const text : {"a", "b", "c"}) replace(text, 2);
  exchange_generation(path(), 1);
  CHECK(files() == Files{{"filter", "b"}, {"filter.1", "c"}, {"filter.2", "a"}});
  exchange_generation(path(), 1);
  exchange_generation(path(), 2);
  CHECK(files() == Files{{"filter", "a"}, {"filter.1", "b"}, {"filter.2", "c"}});
}

TEST_CASE_METHOD(Folder, "on a file system that cannot exchange names, links do it") {
  for (const char* const text : {"a", "b"}) replace(text, 1);
  CHECK(exchange_by_links(path(), generation_path(path(), 1)) == 0);
  CHECK(files() == Files{{"filter", "a"}, {"filter.1", "b"}});
  CHECK(exchange_by_links(path(), generation_path(path(), 2)) == ENOENT);
  CHECK(files() == Files{{"filter", "a"}, {"filter.1", "b"}});
}

TEST_CASE_METHOD(Folder, "a kept filter replaces a missing one, and a missing generation is an error") {
  for (const char* const text : {"a", "b"}) replace(text, 1);
  std::filesystem::remove(path());
  exchange_generation(path(), 1);
  CHECK(files() == Files{{"filter", "a"}});
  const BloomgateError error = error_of([&] { exchange_generation(path(), 1); });
  CHECK(error.code() == ErrorCode::cannot_open);
  CHECK_THAT(error.what(), Contains("filter.1 is not there") && Contains("--keep"));
}

}  // namespace
}  // namespace bloomgate::test
