#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "filter/base/error.hpp"
#include "filter/system/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(InFolder,
                 "a regular file is opened for reading, also through a link, and is closed in started programs") {
  std::ofstream(folder.file("file")) << "12345";
  REQUIRE(symlink("file", folder.file("link").c_str()) == 0);
  for (const char* const name : {"file", "link"}) {
    struct stat status = {};
    const FileDescriptor file = open_regular_file(folder.file(name), "a file", status);
    CHECK(status.st_size == 5);
    CHECK((fcntl(file.get(), F_GETFL) & O_ACCMODE) == O_RDONLY);
    CHECK(fcntl(file.get(), F_GETFD) == FD_CLOEXEC);
  }
}

TEST_CASE_METHOD(InFolder, "a file that is not regular is refused without waiting, with the reason") {
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  struct Case {
    std::string path;
    ErrorCode want;
    std::string words;
  };
  const Case cases[] = {{folder.file("missing"), ErrorCode::cannot_open, "No such file"},
                        {folder.file("pipe"), ErrorCode::not_a_regular_file, "not a regular file; name a list of ours"},
                        {folder.file("."), ErrorCode::not_a_regular_file, "not a regular file; name a list of ours"},
                        {"/dev/null", ErrorCode::not_a_regular_file, "not a regular file; name a list of ours"}};
  for (const Case& c : cases) {
    INFO(c.path);
    struct stat status = {};
    const BloomgateError error = error_of([&] { open_regular_file(c.path, "a list of ours", status); });
    CHECK(error.code() == c.want);
    CHECK_THAT(error.what(), Contains(c.path) && Contains(c.words));
  }
}

TEST_CASE_METHOD(InFolder, "a file is read whole, and what cannot be read, written or synced is said") {
  const std::string text(200'001, 'x');
  write_file(folder.file("file"), text);
  CHECK(read_text(folder.file("file")) == text);
  CHECK(sync_folder(folder.path().string()) == 0);
  CHECK(sync_folder(folder.file("missing")) == ENOENT);
  CHECK(sync_folder(folder.file("file")) == ENOTDIR);
  const auto words_of = [](ErrorCode code, const auto& action) {
    const BloomgateError error = error_of(action);
    CHECK(error.code() == code);
    return std::string(error.what());
  };
  CHECK_THAT(words_of(ErrorCode::cannot_open, [&] { read_text(folder.file("missing")); }), StartsWith("open "));
  CHECK_THAT(words_of(ErrorCode::cannot_read, [&] { read_text(folder.path().string()); }), StartsWith("read "));
  CHECK_NOTHROW(sync_folder_or_throw(folder.path().string()));
  CHECK_THAT(words_of(ErrorCode::cannot_write, [&] { sync_folder_or_throw(folder.file("missing")); }),
             StartsWith("sync " + folder.file("missing")));
  std::array<std::byte, 2> bytes = {};
  CHECK(read_at(-1, bytes, 0) == EBADF);
  CHECK(write_at(-1, bytes, 0) == EBADF);
  CHECK(write_at(FileDescriptor(open("/dev/full", O_WRONLY | O_CLOEXEC)).get(), bytes, 0) == ENOSPC);
}

TEST_CASE_METHOD(WithPath, "a write of which only a part is done goes on behind it") {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto* const handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit ours = {.rlim_cur = 6, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &ours);
  constexpr std::array<std::byte, 10> kBytes = {};
  const int error = write_at(file.get(), kBytes, 1);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  CHECK(error == EFBIG);
  CHECK(read_file(path).size() == 6);
}

}  // namespace
}  // namespace bloomgate::test
