#include "filter/learned/learned_use.hpp"

#include <sys/stat.h>

#include <optional>

#include "tests/support/catch.hpp"
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
  one->set_applied(3);
  CHECK(forget_state(path, 3) == ForgetState::in_force);
  CHECK(forget_state(path, 4) == ForgetState::not_yet);

  std::optional<LearnedUse> other(path);
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

}  // namespace
}  // namespace bloomgate::test
