#include "milter/lists/file_watch.hpp"

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using test::TemporaryFolder;
using test::write_file;

TEST_CASE("changes of a watched file are noticed, once, and those of its neighbours are not") {
  const TemporaryFolder folder;
  FileWatch watch({folder.file("list")});
  CHECK_FALSE(watch.take_events());
  write_file(folder.file("neighbour"), "x");
  CHECK_FALSE(watch.take_events());
  write_file(folder.file("list"), "x");  // which also makes it
  CHECK(watch.take_events());
  CHECK_FALSE(watch.take_events());
  std::filesystem::rename(folder.file("neighbour"), folder.file("list"));
  CHECK(watch.take_events());
  std::filesystem::permissions(folder.file("list"), std::filesystem::perms::owner_read);
  CHECK(watch.take_events());
  std::filesystem::rename(folder.file("list"), folder.file("neighbour"));
  CHECK(watch.take_events());
  std::filesystem::create_hard_link(folder.file("neighbour"), folder.file("list"));
  CHECK(watch.take_events());
  std::filesystem::remove(folder.file("list"));
  CHECK(watch.take_events());
  static_cast<void>(test::read_file(folder.file("neighbour")));
  CHECK_FALSE(watch.take_events());
}

TEST_CASE("other files can be watched instead") {
  const TemporaryFolder folder;
  FileWatch watch({folder.file("list")});
  CHECK(watch.watch_instead({folder.file("other")}).empty());
  write_file(folder.file("other"), "x");
  CHECK(watch.take_events());
  write_file(folder.file("list"), "x");
  CHECK_FALSE(watch.take_events());
}

TEST_CASE("two files of one folder and one of another are watched together") {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  FileWatch watch({folder.file("a"), folder.file("b"), other.file("c")});
  for (const std::string& path : {folder.file("a"), folder.file("b"), other.file("c")}) {
    write_file(path, "x");
    CHECK(watch.take_events());
  }
  write_file(other.file("a"), "x");
  CHECK_FALSE(watch.take_events());
}

TEST_CASE("a folder that is gone is noticed, and watched again once it is back and the watch refreshed") {
  const TemporaryFolder folder;
  const std::string inner = folder.file("inner");
  std::filesystem::create_directory(inner);
  FileWatch watch({inner + "/list"});
  std::filesystem::remove(inner);
  CHECK(watch.take_events());
  CHECK(watch.refresh() == std::vector<std::string>{inner});
  std::filesystem::create_directory(inner);
  CHECK(watch.refresh().empty());
  write_file(inner + "/list", "x");
  CHECK(watch.take_events());
}

TEST_CASE("a folder that is moved is noticed, and the one in its place is watched from the next refresh on") {
  const TemporaryFolder folder;
  const std::string inner = folder.file("inner");
  std::filesystem::create_directory(inner);
  FileWatch watch({inner + "/list"});
  std::filesystem::rename(inner, folder.file("old"));
  CHECK(watch.take_events());
  std::filesystem::create_directory(inner);
  CHECK(watch.refresh().empty());
  CHECK_FALSE(watch.take_events());
  write_file(inner + "/list", "x");
  CHECK(watch.take_events());
  write_file(folder.file("old") + "/list", "x");
  std::filesystem::remove_all(folder.file("old"));
  CHECK_FALSE(watch.take_events());
}

TEST_CASE("without files nothing is watched") {
  CHECK(FileWatch({}).descriptor() == -1);
}

}  // namespace
}  // namespace bloomgate
