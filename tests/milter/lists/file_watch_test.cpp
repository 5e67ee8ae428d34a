#include "milter/lists/file_watch.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

struct OneWatched : InFolder {
  FileWatch watch{{folder.file("list")}};
};

TEST_CASE_METHOD(OneWatched, "changes of a watched file are noticed, once, and those of its neighbours are not") {
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
  static_cast<void>(read_file(folder.file("neighbour")));
  CHECK_FALSE(watch.take_events());
}

TEST_CASE_METHOD(InFolder, "a write to a watched file is noticed, also if another file is written to after it") {
  write_file(folder.file("list"), "x");
  FileWatch watch({folder.file("list")});
  write_file(folder.file("list"), "y");
  CHECK(watch.take_events());
  write_file(folder.file("list"), "z");
  write_file(folder.file("neighbour"), "z");
  CHECK(watch.take_events());
}

TEST_CASE("a watched folder of layers reports layers that appear or disappear, and no other file") {
  const TemporaryFolder above;
  const std::string layers = above.file("layers");
  std::filesystem::create_directory(layers);
  FileWatch watch({layers});
  CHECK_FALSE(watch.take_events());
  write_file(layers + "/README", "x");
  write_file(layers + "/.0001.bloom.tmp", "x");
  CHECK_FALSE(watch.take_events());
  write_file(layers + "/0001.bloom", "x");
  CHECK(watch.take_events());
  std::filesystem::remove(layers + "/0001.bloom");
  CHECK(watch.take_events());
}

TEST_CASE("if events are lost, the watched file counts as changed") {
  const std::uint64_t most = std::stoull(read_file("/proc/sys/fs/inotify/max_queued_events"));
  if (most > 1'000'000) {
    WARN("skipped: the system keeps " << most << " events");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder.file("a"), "x");
  write_file(folder.file("b"), "x");
  FileWatch watch({folder.file("list")});
  for (std::uint64_t event = 0; event < most + 2; event += 2) {  // two of one kind in a row would be taken for one
    std::filesystem::permissions(folder.file("a"), std::filesystem::perms::owner_read);
    std::filesystem::permissions(folder.file("b"), std::filesystem::perms::owner_read);
  }
  CHECK(watch.take_events());
}

TEST_CASE_METHOD(InFolder, "the file that a link leads to is watched, too") {
  const TemporaryFolder other;
  write_file(other.file("target"), "x");
  std::filesystem::create_symlink(other.file("target"), folder.file("list"));
  FileWatch watch({folder.file("list")});
  write_file(other.file("target"), "y");
  CHECK(watch.take_events());
}

// Of an inotify descriptor.
std::ptrdiff_t watches_of(int descriptor) {
  const std::string info = read_file("/proc/self/fdinfo/" + std::to_string(descriptor));
  std::ptrdiff_t count = 0;
  for (std::size_t at = info.find("inotify wd:"); at != std::string::npos; at = info.find("inotify wd:", at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE_METHOD(InFolder, "a folder that is not watched any longer costs no watch") {
  const TemporaryFolder other;
  FileWatch watch({folder.file("list")});
  CHECK(watch.watch_instead({other.file("list")}).empty());
  CHECK(watches_of(watch.descriptor()) == 1);
}

TEST_CASE_METHOD(InFolder, "a path without a folder is watched in the working folder") {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  FileWatch watch({"list"});
  std::filesystem::current_path(before);
  write_file(folder.file("list"), "x");
  CHECK(watch.take_events());
}

TEST_CASE_METHOD(InFolder, "a watch without files can be given some") {
  FileWatch watch({});
  CHECK(watch.watch_instead({folder.file("list")}).empty());
  write_file(folder.file("list"), "x");
  CHECK(watch.take_events());
}

TEST_CASE_METHOD(OneWatched, "a change of the folder's mode is not a change of the file in it") {
  write_file(folder.file("list"), "x");
  CHECK(watch.take_events());
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all | std::filesystem::perms::group_read);
  CHECK_FALSE(watch.take_events());
}

TEST_CASE_METHOD(OneWatched, "other files can be watched instead") {
  CHECK(watch.watch_instead({folder.file("other")}).empty());
  CHECK_FALSE(watch.take_events());
  write_file(folder.file("other"), "x");
  CHECK(watch.take_events());
  write_file(folder.file("list"), "x");
  CHECK_FALSE(watch.take_events());
}

TEST_CASE_METHOD(InFolder, "two files of one folder and one of another are watched together") {
  const TemporaryFolder other;
  FileWatch watch({folder.file("a"), folder.file("b"), other.file("c")});
  for (const std::string& path : {folder.file("a"), folder.file("b"), other.file("c")}) {
    write_file(path, "x");
    CHECK(watch.take_events());
  }
  write_file(other.file("a"), "x");
  CHECK_FALSE(watch.take_events());
}

TEST_CASE_METHOD(InFolder,
                 "a folder that is gone is noticed, and watched again once it is back and the watch refreshed") {
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

TEST_CASE_METHOD(InFolder,
                 "a folder that is moved is noticed, and the one in its place is watched from the next refresh on") {
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
}  // namespace bloomgate::test
