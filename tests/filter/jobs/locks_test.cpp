#include "filter/jobs/locks.hpp"

#include <atomic>
#include <filesystem>
#include <optional>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

namespace fs = std::filesystem;

TEST_CASE_METHOD(test::WithPath, "a file is changed by one command at a time, and only one that is there has a lock") {
  CHECK_FALSE(ChangeLock::if_there(""));
  CHECK_FALSE(ChangeLock::if_there(path));
  CHECK(test::error_code_of([&] { ChangeLock{path}; }) == ErrorCode::cannot_open);
  test::write_file(path, "");
  {
    const auto lock = ChangeLock::if_there(path);
    REQUIRE(lock);
    const auto error = test::error_of([&] { ChangeLock{path}; });
    CHECK(error.code() == ErrorCode::cannot_write);
    CHECK(error.details().path == path);
    CHECK_THAT(error.what(), Catch::StartsWith(path + " is being changed by another command"));
    // Another file of that name has a lock of its own.
    test::write_file(folder.file("other"), "");
    fs::rename(folder.file("other"), path);
    CHECK_NOTHROW(ChangeLock(path));
  }
  CHECK_NOTHROW(ChangeLock(path));
}

TEST_CASE_METHOD(test::WithPath,
                 "a command that waits for a folder is told once, and locks the one that is there then") {
  const std::atomic<bool> stop{false};
  fs::create_directory(path);
  std::optional<FolderLock> first(std::in_place, path, stop, [] { FAIL("nothing to wait for"); });
  int waits = 0;
  const FolderLock second(path, stop, [&] {
    ++waits;
    fs::rename(path, folder.file("before"));
    fs::create_directory(path);
    first.reset();
  });
  CHECK(waits == 1);
  CHECK_NOTHROW(second.sync());
  CHECK_NOTHROW(ChangeLock(folder.file("before")));
  CHECK_THROWS_AS(ChangeLock(path), BloomgateError);
}

TEST_CASE_METHOD(test::WithPath, "a folder that is not there, or is a file, has no lock") {
  const std::atomic<bool> stop{false};
  CHECK(test::error_code_of([&] { FolderLock(path, stop); }) == ErrorCode::cannot_open);
  test::write_file(path, "");
  CHECK(test::error_code_of([&] { FolderLock(path, stop); }) == ErrorCode::cannot_open);
}

}  // namespace
}  // namespace bloomgate
