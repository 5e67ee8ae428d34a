
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "filter/system/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace bloomgate;

TEST_CASE_METHOD(test::InFolder,
                 "an unnamed file keeps what is written, only its owner may read it, and its folder stays empty") {
  const FileDescriptor file = unnamed_file(folder.path().string());
  REQUIRE(file.is_open());
  CHECK(std::filesystem::is_empty(folder.path()));
  struct stat status = {};
  REQUIRE(fstat(file.get(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  constexpr std::array<std::byte, 3> kWritten = {std::byte{1}, std::byte{2}, std::byte{3}};
  REQUIRE(write_at(file.get(), kWritten, 5) == 0);
  std::array<std::byte, 3> read = {};
  REQUIRE(read_at(file.get(), read, 5) == 0);
  CHECK(read == kWritten);
  CHECK(read_at(file.get(), read, 6) == EIO);
}

TEST_CASE_METHOD(test::InFolder, "without its folder an unnamed file is not made, and errno says why") {
  CHECK_FALSE(unnamed_file(folder.file("missing")).is_open());
  CHECK(errno == ENOENT);
}
