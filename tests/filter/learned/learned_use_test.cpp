#include "filter/learned/learned_use.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("a forget is in force once each daemon that uses the file has applied it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("learned.db");
  CHECK(forget_state(path, 1) == ForgetState::no_daemon);
  std::optional<LearnedUse> one(path);
  CHECK(forget_state(path, 1) == ForgetState::not_yet);
  one->set_applied(0);
  CHECK(forget_state(path, 1) == ForgetState::not_yet);
  one->set_applied(1);
  CHECK(forget_state(path, 1) == ForgetState::in_force);
  one->set_applied(3);
  CHECK(forget_state(path, 3) == ForgetState::in_force);
  CHECK(forget_state(path, 4) == ForgetState::not_yet);

  std::optional<LearnedUse> other(path);
  errno = ENOENT;  // of an earlier call
  CHECK(forget_state(path, 3) == ForgetState::not_yet);
  other->set_applied(5);
  CHECK(forget_state(path, 3) == ForgetState::in_force);
  CHECK(forget_state(path, 5) == ForgetState::not_yet);
  one->set_applied(0);  // another file is in the place of the first one
  CHECK(forget_state(path, 1) == ForgetState::not_yet);
  one.reset();
  CHECK(forget_state(path, 5) == ForgetState::in_force);
  other.reset();
  CHECK(forget_state(path, 5) == ForgetState::no_daemon);

  struct stat status = {};
  REQUIRE(stat((path + "-use").c_str(), &status) == 0);
  CHECK(status.st_size == 0);
  CHECK((status.st_mode & 07) == 0);
}

TEST_CASE("a file of locks that cannot be made, opened or locked is named") {
  const TemporaryFolder folder;
  const auto error_of_use = [](const std::string& path) { return error_of([&] { LearnedUse{path}; }); };
  const auto error_of_state = [](const std::string& path, std::int64_t forgets) {
    return error_of([&] { forget_state(path, forgets); });
  };
  write_file(folder.file("text"), "");
  CHECK(error_of_use(folder.file("text/db")).code() == ErrorCode::cannot_write);
  CHECK_THAT(error_of_use(folder.file("text/db")).what(), Contains("create " + folder.file("text/db-use")));
  CHECK(error_of_state(folder.file("text/db"), 1).code() == ErrorCode::cannot_open);
  // A link could lead to the database itself, whose locks would end with it.
  std::filesystem::create_symlink("text", folder.file("link-use"));
  CHECK(error_of_use(folder.file("link")).code() == ErrorCode::cannot_write);
  LearnedUse use(folder.file("db"));
  const BloomgateError lock = error_of([&] { use.set_applied(-1); });
  CHECK(lock.code() == ErrorCode::cannot_write);
  CHECK_THAT(lock.what(), Contains("lock " + folder.file("db-use")));
  const BloomgateError read = error_of_state(folder.file("db"), -1);
  CHECK(read.code() == ErrorCode::cannot_read);
  CHECK_THAT(read.what(), Contains("read the locks of " + folder.file("db-use")));
}

}  // namespace
}  // namespace bloomgate::test
