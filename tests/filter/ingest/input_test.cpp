#include "filter/ingest/input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "filter/ingest/blocks.hpp"
#include "filter/system/file_descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
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

TEST_CASE_METHOD(test::InFolder,
                 "the shares of lists have each line once, and know how many lines and bytes they have") {
  const std::atomic<bool> stop{false};
  const std::string whole = lines_of(1'300'000) + "last@example.org";
  const std::vector<std::string> texts = {whole, "joe@example.org\n", "a@example.org\rb@example.org\r"};
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    paths.push_back(folder.file(std::to_string(i)));
    test::write_file(paths.back(), texts[i]);
  }
  for (const unsigned parts : {1U, 2U, 5U}) {
    std::vector<std::string> read(texts.size());
    std::uint64_t bytes = 0;
    for (unsigned part = 0; part < parts; ++part) {
      CAPTURE(parts, part);
      Blocks blocks(paths, stop);
      blocks.take_share(part, parts);
      bytes += blocks.total_bytes();
      CHECK(blocks.lines_before_share(0) == static_cast<std::uint64_t>(std::ranges::count(read[0], '\n')));
      std::uint64_t turn = 0;
      for (Block block; blocks.next(block); ++turn) {
        CHECK(block.turn == turn);
        read[block.input] += block.text;
      }
      CHECK(blocks.done_bytes() == blocks.total_bytes());
      CHECK(blocks.in_parts(0));
      CHECK_FALSE(blocks.in_parts(2));
    }
    CHECK((read[0] == whole));
    CHECK(read[1] == texts[1]);
    CHECK(read[2] == "a@example.org\nb@example.org\n");
    CHECK(bytes == whole.size() + texts[1].size() + texts[2].size());
  }
}

TEST_CASE_METHOD(test::InFolder,
                 "a pipe that ends before its first byte has sent nothing, unless it belongs to another share") {
  const std::atomic<bool> stop{false};
  test::write_file(folder.file("list"), "");
  for (const std::string text : {"", "#\n"}) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const FileDescriptor reader(ends[0]);
    REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(ends[1]);
    for (const unsigned part : {0U, 1U}) {
      CAPTURE(text, part);
      Blocks blocks({"/dev/fd/" + std::to_string(reader.get()), folder.file("list")}, stop);
      blocks.take_share(part, 2);
      for (Block block; blocks.next(block);) {
      }
      CHECK(blocks.sent_nothing(0) == (text.empty() && part == 0));
      CHECK_FALSE(blocks.sent_nothing(1));
    }
  }
}

TEST_CASE_METHOD(test::InFolder, "a large list that is not in memory is read ahead, each line once and in its order") {
  const std::atomic<bool> stop{false};
  const std::string path = folder.file("list");
  std::string want;
  {
    std::ofstream file(path);
    for (int i = 0; i <= 64; ++i) {  // one line in each MiB, and holes between them
      const std::string line = "user" + std::to_string(i) + "@example.org";
      file.seekp(std::streamoff{i} << 20);
      file << '\n' << line << '\n';
      want += line;
    }
  }
  Blocks blocks({path}, stop);
  std::string got;
  std::uint64_t turn = 0;
  for (Block block; blocks.next(block); ++turn) {
    CHECK(block.turn == turn);
    for (const char c : block.text) {
      if (c != '\0' && c != '\n') got += c;
    }
  }
  CHECK(got == want);
  CHECK(blocks.done_bytes() == blocks.total_bytes());
}

TEST_CASE_METHOD(test::InFolder, "a list that cannot be read is refused by name, and ends the others") {
  std::atomic<bool> stop{false};
  const std::string path = folder.file("list");
  test::write_file(path, "joe@example.org\n");
  const auto refusal = [&](const std::string& name) { return test::error_of([&] { Blocks({path, name}, stop); }); };
  const BloomgateError missing = refusal(folder.file("missing"));
  CHECK(missing.code() == ErrorCode::cannot_open);
  CHECK_THAT(missing.what(), Catch::Contains("open " + folder.file("missing") + ": No such file"));
  const BloomgateError of_folder = refusal(folder.path());
  CHECK(of_folder.code() == ErrorCode::bad_argument);
  CHECK_THAT(of_folder.what(), Catch::Contains(" is a folder; name the files in it"));
  Blocks blocks({path, path}, stop);
  stop = true;
  Block block;
  const BloomgateError stopped = test::error_of([&] { blocks.next(block); });
  CHECK(stopped.code() == ErrorCode::interrupted);
  CHECK_THAT(stopped.what(), Catch::Contains("stopped while reading " + path));
  stop = false;
  CHECK_FALSE(blocks.next(block));
}

}  // namespace
}  // namespace bloomgate
