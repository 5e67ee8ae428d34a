#include "filter/ingest/input_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

struct Fixture : test::InFolder {
  // A file of so many bytes that was written at that time.
  std::string write(const std::string& name, std::size_t bytes, time_t seconds, long nanoseconds) const {
    test::write_file(folder.file(name), std::string(bytes, 'x'));
    const timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    REQUIRE(utimensat(AT_FDCWD, folder.file(name).c_str(), times, 0) == 0);
    return folder.file(name);
  }
};

TEST_CASE_METHOD(Fixture, "files are in the order in which they were written, and standard input comes last") {
  std::filesystem::create_directory(folder.file("logs"));
  const std::string late = write("late", 1, 2000, 1);
  const std::string same = write("same", 10, 1000, 7);
  const std::string rotated = write("logs/b", 100, 1000, 6);
  const std::string rotated_too = write("logs/a", 1000, 1000, 7);
  const std::string missing = folder.file("missing");
  std::vector<std::size_t> skipped;
  const auto skip = [&](std::size_t source, const BloomgateError& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    skipped.push_back(source);
  };
  std::filesystem::create_directory(folder.file("empty"));
  const auto files = files_by_time({"-", missing, late, same, folder.file("empty"), folder.file("logs")}, skip);
  std::vector<std::string> paths;
  for (const TimedFile& file : files) paths.push_back(file.path);
  CHECK(paths == std::vector<std::string>{rotated, same, rotated_too, late, "-", missing});
  CHECK(files[0].source == 5);
  CHECK_FALSE(files[0].named);
  CHECK(files[1].source == 3);
  CHECK(files[1].named);
  CHECK(files[0].bytes == 100);
  CHECK(total_bytes(files) == 1111);
  CHECK(skipped == std::vector<std::size_t>{4});
  CHECK(test::error_code_of([&] { files_by_time({folder.file("empty")}); }) == ErrorCode::bad_input);
}

TEST_CASE_METHOD(Fixture, "a link in a folder that leads nowhere is an error for lists, and is skipped in mail") {
  std::filesystem::create_directory(folder.file("lists"));
  const std::string list = write("lists/a", 1, 1000, 0);
  std::filesystem::create_symlink(folder.file("lists"), folder.file("lists/b"));
  CHECK(list_files({folder.file("lists")}) == std::vector{list});
  std::filesystem::create_symlink("nowhere", folder.file("lists/c"));
  CHECK(test::error_code_of([&] { list_files({folder.file("lists")}); }) == ErrorCode::cannot_open);
  CHECK(files_by_time({folder.file("lists")}).size() == 1);
}

}  // namespace
}  // namespace bloomgate
