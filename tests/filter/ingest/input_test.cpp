#include "filter/ingest/input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

std::string lines_of(std::size_t bytes) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < bytes; ++i) {
    text += "someone" + std::to_string(i * 7919) + "@example.org\n";
  }
  return text;
}

// On disk, and as far as the system does as it is asked, nowhere else.
void write_cold(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  const FileDescriptor file(open(path.c_str(), O_RDONLY));
  REQUIRE(fsync(file.get()) == 0);
  REQUIRE(posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) == 0);
}

std::string read_all(Input& input) {
  std::string all;
  Block block;
  while (!input.ended()) {
    const std::uint64_t offset = input.claim(block);
    input.read(offset, block);
    input.release();
    all += block.text;
  }
  return all;
}

TEST_CASE_METHOD(test::InFolder, "a large list reads the same from the page cache and past it") {
  const std::atomic<bool> stop{false};
  // The second one ends within a page, without a line end.
  const std::string text = lines_of((std::size_t{16} << 20) + 100) + GENERATE("", "last@example.org");
  write_cold(folder.file("list"), text);
  Input cold(0, folder.file("list"), false, stop);
  if (!cold.is_cold()) WARN("the system keeps the list in its page cache: reading past it is not tested here");
  cold.read_past_cache();
  CHECK((read_all(cold) == text));
  Input again(0, folder.file("list"), false, stop);
  CHECK((read_all(again) == text));
  Input warm(0, folder.file("list"), false, stop);
  CHECK_FALSE(warm.is_cold());
}

TEST_CASE_METHOD(test::InFolder, "a small list is never read past the page cache") {
  const std::atomic<bool> stop{false};
  write_cold(folder.file("list"), lines_of(100'000));
  CHECK_FALSE(Input(0, folder.file("list"), false, stop).is_cold());
}

TEST_CASE_METHOD(test::InFolder,
                 "a list that shrinks while it is read past the page cache is refused with that reason") {
  const std::atomic<bool> stop{false};
  write_cold(folder.file("list"), lines_of(std::size_t{16} << 20));
  Input input(0, folder.file("list"), false, stop);
  input.read_past_cache();
  Block block;
  input.claim(block);
  REQUIRE(truncate(folder.file("list").c_str(), 1000) == 0);
  CHECK_THROWS_WITH(input.read(0, block), Catch::Contains("shrank while it was read"));
}

TEST_CASE_METHOD(test::InFolder, "a list that is written to while it is read is refused with that reason") {
  const std::atomic<bool> stop{false};
  const std::string path = folder.file("list");
  const bool quotes = GENERATE(false, true);  // in parts, or as a stream
  test::write_file(path, lines_of(3 << 20) + "joe@example.co");
  test::make_old(path);
  Input input(0, path, quotes, stop);
  Block block;
  const std::uint64_t offset = input.claim(block);
  input.read(offset, block);
  input.release();
  SECTION("a line grows at its end") {
    std::ofstream(path, std::ios::app) << "m\n";
  }
  SECTION("it is written anew, with other lines of the same length") {
    std::fstream(path, std::ios::in | std::ios::out).put('S');
  }
  CHECK_THROWS_WITH(read_all(input), Catch::Contains("was written to while it was read"));
}

}  // namespace
}  // namespace bloomgate
