#include "filter/system/direct_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "filter/system/anonymous_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kPage = DirectFile::kAlignment;

// Not every file system can do it; those that tests run on can.
DirectFile open_file(const std::string& path, std::size_t bytes) {
  std::ofstream(path) << std::string(bytes, 'a');
  DirectFile file(path, O_RDWR);
  REQUIRE(file.is_open());
  return file;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE_METHOD(test::InFolder, "direct writes take whole pages, and leave the rest to the caller") {
  const DirectFile file = open_file(folder.file("file"), 4 * kPage);
  const AnonymousMemory memory(2 * kPage, "a test");
  std::ranges::fill(memory.bytes(), std::byte{'b'});
  CHECK(file.write(memory.bytes().first(kPage + 100), kPage) == kPage);
  CHECK(content_of(folder.file("file")) ==
        std::string(kPage, 'a') + std::string(kPage, 'b') + std::string(2 * kPage, 'a'));
}

TEST_CASE_METHOD(test::InFolder, "reading goes up to the file's end") {
  const DirectFile file = open_file(folder.file("file"), 2 * kPage + 100);
  const AnonymousMemory memory(4 * kPage, "a test");
  CHECK(file.read(memory.bytes(), 0) == 2 * kPage + 100);
  CHECK(file.read(memory.bytes(), 4 * kPage) == 0);
  CHECK(memory.bytes()[2 * kPage + 99] == std::byte{'a'});
}

TEST_CASE_METHOD(test::InFolder, "unaligned pieces are left to the caller") {
  const DirectFile file = open_file(folder.file("file"), 4 * kPage);
  const AnonymousMemory memory(2 * kPage, "a test");
  CHECK(file.write(memory.bytes().subspan(1, kPage), 0) == 0);
  CHECK(file.write(memory.bytes(), 512) == 0);
  CHECK(file.read(memory.bytes().subspan(1, kPage), 0) == 0);
  CHECK(file.read(memory.bytes(), 1) == 0);
  CHECK(content_of(folder.file("file")) == std::string(4 * kPage, 'a'));
}

TEST_CASE("a file that cannot be opened for direct access reads and writes nothing") {
  const AnonymousMemory memory(kPage, "a test");
  CHECK_FALSE(DirectFile("/proc/self/status", O_RDONLY).is_open());
  CHECK(DirectFile("/proc/self/status", O_RDONLY).read(memory.bytes(), 0) == 0);
  CHECK(DirectFile().write(memory.bytes(), 0) == 0);
}

}  // namespace
}  // namespace bloomgate
