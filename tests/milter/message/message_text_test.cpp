#include "milter/message/message_text.hpp"

#include <unistd.h>

#include <filesystem>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/largest_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// Reads in pieces of that many bytes.
std::string text_of(const MessageText& message, std::size_t piece_bytes = 4096) {
  std::string text;
  std::string piece(piece_bytes, '\0');
  while (const std::size_t count = message.read(text.size(), piece)) text.append(piece, 0, count);
  return text;
}

std::string random_bytes(std::size_t size) {
  std::mt19937 random(1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_CASE("header fields, the blank line and the body are kept as they are sent by mail") {
  MessageText message({.max_bytes = 10'000, .memory_bytes = 10'000, .folder = "/nowhere"});
  message.add_field("From", " Joe <joe@example.org>");
  message.add_field("Subject", " a long\n\tsubject\r\n  indeed");
  message.add_field("X-Empty", " ");
  message.add_field("X-None", "");
  message.end_of_header();
  message.add_body("Hello\r\n");
  message.add_body("\r\nAnn\r\n");
  CHECK(text_of(message) ==
        "From: Joe <joe@example.org>\r\nSubject: a long\r\n\tsubject\r\n  indeed\r\nX-Empty: "
        "\r\nX-None:\r\n\r\nHello\r\n\r\nAnn\r\n");
  CHECK(message.size() == text_of(message).size());
  CHECK_FALSE(message.is_full());
}

TEST_CASE_METHOD(InFolder, "memory stays within its bound, and the rest is read back from the file") {
  constexpr std::size_t kMemory = 100'000;
  const std::string body = random_bytes(3'000'000);
  MessageText message({.max_bytes = 10'000'000, .memory_bytes = kMemory, .folder = folder.path()});
  for (int round = 0; round < 2; ++round) {
    for (std::size_t at = 0; at < body.size(); at += 777) {
      message.add_body(std::string_view(body).substr(at, 777));
      REQUIRE(message.memory_held() <= kMemory);
    }
    CHECK(message.size() == body.size());
    for (const unsigned piece : {1'000'000U, 4096U, 99'999U}) CHECK(text_of(message, piece) == body);
    std::string middle(2000, '\0');
    REQUIRE(message.read(kMemory + 5, middle) == middle.size());
    CHECK(middle == body.substr(kMemory + 5, middle.size()));
    CHECK(message.read(body.size(), middle) == 0);
    CHECK(message.read(body.size() + 1, middle) == 0);
    message.clear();
    CHECK(message.size() == 0);
    CHECK(message.memory_held() <= 16384);
  }
}

TEST_CASE_METHOD(InFolder, "the temporary file has no name, and is removed with its message") {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  MessageText message({.max_bytes = 1000, .memory_bytes = 10, .folder = folder.path()});
  message.add_body("0123456789");
  CHECK(open_files() == before);
  message.add_body("abc");
  CHECK(open_files() == before + 1);
  CHECK(std::filesystem::is_empty(folder.path()));
  message.clear();
  CHECK(open_files() == before);
  CHECK(message.memory_held() == 10);  // kept for the next one
}

TEST_CASE_METHOD(InFolder, "a moved text keeps its content, and leaves an empty one") {
  MessageText message({.max_bytes = 16, .memory_bytes = 10, .folder = folder.path()});
  message.add_body("0123456789abc");
  MessageText taken = message.take();
  CHECK(taken.size() == 13);
  CHECK(message.size() == 0);
  CHECK(text_of(message).empty());
  message.add_body("another, longer one");
  CHECK(text_of(message) == "another, longer ");
  CHECK(text_of(taken) == "0123456789abc");
  taken.add_body("defgh");
  CHECK(text_of(taken) == "0123456789abcdef");
}

TEST_CASE_METHOD(InFolder, "the first bytes of a message that is too long are kept") {
  for (const std::size_t memory : {std::size_t{0}, std::size_t{10}, std::size_t{20}, std::size_t{1000}}) {
    CAPTURE(memory);
    MessageText message({.max_bytes = 20, .memory_bytes = memory, .folder = folder.path()});
    message.add_field("A", " 0123456789");
    CHECK_FALSE(message.is_full());
    message.add_body("abcdefghij");
    CHECK(message.is_full());
    message.add_body("more");
    CHECK(text_of(message) == "A: 0123456789\r\nabcde");
    message.clear();
    CHECK_FALSE(message.is_full());
  }
}

TEST_CASE_METHOD(InFolder, "a folder that is not there is an error, and the next message can be kept") {
  MessageText message({.max_bytes = 1000, .memory_bytes = 10, .folder = folder.file("missing")});
  CHECK_THROWS_WITH(message.add_body("0123456789a"),
                    Contains(folder.file("missing")) && Contains("No such file or directory"));
  CHECK_THROWS_AS(message.add_body("again"), MessageTextError);
  message.clear();
  message.add_body("short");
  CHECK(text_of(message) == "short");
}

TEST_CASE_METHOD(InFolder, "a failure to read back from the file is an error") {
  MessageText message({.max_bytes = 100'000, .memory_bytes = 10, .folder = folder.path()});
  message.add_body(random_bytes(10'000));
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(each.path(), error).string().starts_with(folder.path().string())) {
      REQUIRE(ftruncate(std::stoi(each.path().filename().string()), 100) == 0);
    }
  }
  std::string piece(1000, '\0');
  CHECK(message.read(0, piece) == 10);
  CHECK_THROWS_WITH(message.read(10, piece), Contains("read a temporary file in " + folder.path().string()));
}

TEST_CASE_METHOD(InFolder, "a file that cannot grow is an error, whether none or some of it could be written") {
  for (const rlim_t largest : {rlim_t{0}, rlim_t{5000}}) {
    CAPTURE(largest);
    MessageText message({.max_bytes = 100'000, .memory_bytes = 10, .folder = folder.path()});
    {
      const LargestFile limit(largest);
      CHECK_THROWS_WITH(message.add_body(random_bytes(10'000)), Contains("File too large"));
    }
    message.clear();
    message.add_body(random_bytes(10'000));
    CHECK(text_of(message) == random_bytes(10'000));
  }
}

}  // namespace
}  // namespace bloomgate::test
