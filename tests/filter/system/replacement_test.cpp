#include "filter/system/replacement.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

struct stat status_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status;
}

TEST_CASE_METHOD(WithPath,
                 "a file that replaces another has its owner and permissions, and a new one those asked for") {
  replace_file(path, "first", 0640);
  CHECK(read_file(path) == "first");
  CHECK((status_of(path).st_mode & 07777) == 0640);
  REQUIRE(chmod(path.c_str(), 02604) == 0);
  const uid_t owner = geteuid() == 0 ? uid_t{12'345} : geteuid();
  REQUIRE(chown(path.c_str(), owner, getegid()) == 0);
  REQUIRE(chmod(path.c_str(), 02604) == 0);
  write_file(folder.file(".file.new"), "of a process that was killed");
  replace_file(path, "second", 0640);
  CHECK(read_file(path) == "second");
  CHECK((status_of(path).st_mode & 07777) == 02604);
  CHECK(status_of(path).st_uid == owner);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE_METHOD(WithPath, "a file that replaces another has its group, also where the owner is the same") {
  const gid_t group = geteuid() == 0 ? gid_t{12'345} : getegid();
  write_file(path, "first");
  REQUIRE(chown(path.c_str(), geteuid(), group) == 0);
  replace_file(path, "second", 0640);
  CHECK(status_of(path).st_gid == group);
  CHECK(status_of(path).st_uid == geteuid());
}

TEST_CASE_METHOD(WithPath, "until it is put in place, the old file stays, and an abandoned one is removed") {
  write_file(path, "old");
  make_old(path);
  const auto time = fs::last_write_time(path);
  const std::string temporary = folder.file("temporary");
  {
    Replacement file(path, temporary, 0600);
    file.write("new");
    file.sync();
    CHECK(read_file(path) == "old");
    CHECK(read_file(file.temporary()) == "new");
  }
  CHECK_FALSE(fs::exists(temporary));
  {
    Replacement file(path, temporary, 0600);
    file.release();
  }
  CHECK(fs::exists(temporary));
  {
    Replacement file(path, temporary, 0600);
    file.write("new");
    file.keep_time();
    file.put_in_place();
    write_file(temporary, "of another process");
  }
  CHECK(fs::last_write_time(path) == time);
  CHECK(read_file(path) == "new");
  CHECK(fs::exists(temporary));
  Replacement first(folder.file("first"), temporary, 0600);
  CHECK_NOTHROW(first.keep_time());  // there is no old one
}

TEST_CASE_METHOD(WithPath, "a file that cannot be replaced is named, with what was to be done, and nothing is left") {
  const auto check = [&](const std::string& target, const std::string& words) {
    const BloomgateError error = error_of([&] { replace_file(target, "text", 0600); });
    CHECK(error.code() == ErrorCode::cannot_write);
    CHECK_THAT(error.what(), StartsWith(words + " " + target + ": "));
  };
  check(folder.file("none/file"), "create a file beside");
  fs::create_directory(path);
  check(path, "replace");
  CHECK_FALSE(fs::exists(folder.file(".file.new")));
  fs::create_directory(folder.file(".other.new"));
  check(folder.file("other"), "create a file beside");
  for (const auto& [number, code] : {std::pair(EACCES, ErrorCode::not_permitted),
                                     {EPERM, ErrorCode::not_permitted},
                                     {EROFS, ErrorCode::not_permitted},
                                     {ENOSPC, ErrorCode::cannot_write}}) {
    const BloomgateError error = replacement_error("write", path, number);
    CHECK(error.code() == code);
    CHECK(error.details().path == path);
    CHECK(std::string(error.what()).ends_with("; run this as root (sudo)") == (code == ErrorCode::not_permitted));
  }
}

}  // namespace
}  // namespace bloomgate::test
