#include "filter/system/residency.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter/system/file_descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(WithPath, "of a file that was just written all bytes are in memory, and of one that has none, none") {
  write_file(path, std::string(10'000, 'x'));
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  CHECK(resident_bytes(file.get(), 10'000, path) == 10'000);
  CHECK(resident_bytes(file.get(), 4096, path) == 4096);
  CHECK(resident_bytes(file.get(), 0, path) == 0);
  const BloomgateError error = error_of([&] { resident_bytes(-1, 10'000, path); });
  CHECK(error.code() == ErrorCode::cannot_open);
  CHECK_THAT(error.what(), StartsWith("map " + path + ": "));
}

// Of a user without rights of root: 0 if the system tells what is in memory, 1 if it does not.
int told_to_nobody(const std::string& path) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65'534;
    const int file = open(path.c_str(), O_RDONLY);
    if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(2);
    _exit(resident_bytes(file, 100, path) == 100 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

TEST_CASE_METHOD(WithPath, "whether a file is in memory is told to its owner, and to a user who may write to it") {
  if (geteuid() != 0) return;  // only root can become another user
  write_file(path, std::string(100, 'x'));
  REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  CHECK(told_to_nobody(path) == 1);
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  CHECK(told_to_nobody(path) == 0);
  REQUIRE((chmod(path.c_str(), 0444) == 0 && chown(path.c_str(), 65'534, 65'534) == 0));
  CHECK(told_to_nobody(path) == 0);
}

}  // namespace
}  // namespace bloomgate::test
