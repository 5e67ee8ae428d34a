#include "milter/brake/counts_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

constexpr HalfHours kNow = 2950 * kHalfHoursOfWeek;
constexpr SenderCounts::Rules kRules = {};
constexpr CountsOrigin kOrigin = {.seed = 99, .began = kNow - 5};

KeyHash spread(std::uint64_t number) {
  return hash_key(std::to_string(number), 3);
}

void send(BusiestSenders& senders, KeyHash key, int messages, HalfHours now = kNow) {
  for (int i = 0; i < messages; ++i) {
    senders.visit(key, now, [now](SenderCounts& counts) { return counts.count(now, {}, kRules); });
  }
}

bool is_over(const BusiestSenders& senders, KeyHash key) {
  return senders.visit_known(key, [](const SenderCounts& counts) { return counts.is_over(kNow, kRules); });
}

TEST_CASE("counts, seed and start time are read as they were written") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("counts");
  BusiestSenders senders;
  for (KeyHash key = 1; key <= 3000; ++key) send(senders, spread(key), key % 100 == 0 ? 61 : 1);
  write_counts(path, kOrigin, senders, 0);
  CHECK(std::filesystem::file_size(path) == 48 + 3000 * sizeof(SenderCounts));

  BusiestSenders read;
  const std::optional<CountsOrigin> origin = read_counts(path, read, kNow);
  REQUIRE(origin);
  CHECK(origin->seed == kOrigin.seed);
  CHECK(origin->began == kOrigin.began);
  CHECK(read.size() == 3000);
  for (KeyHash key = 1; key <= 3000; ++key) {
    if (is_over(read, spread(key)) != (key % 100 == 0)) FAIL("sender " << key);
  }
}

TEST_CASE("a file without senders is valid, and a missing file gives no counts") {
  const test::TemporaryFolder folder;
  BusiestSenders senders;
  CHECK_FALSE(read_counts(folder.file("counts"), senders, kNow));
  write_counts(folder.file("counts"), kOrigin, senders, 0);
  CHECK(read_counts(folder.file("counts"), senders, kNow));
  CHECK(senders.size() == 0);
}

TEST_CASE("senders without recent mail are not written, and senders with a future time are not read") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("counts");
  BusiestSenders senders;
  send(senders, 1, 1, kNow - 10);
  send(senders, 2, 1, kNow);
  send(senders, 3, 1, kNow + 10);
  write_counts(path, kOrigin, senders, kNow - 9);
  BusiestSenders read;
  REQUIRE(read_counts(path, read, kNow + 9));
  CHECK(read.size() == 1);
  CHECK(read.visit_known(2, [](const SenderCounts& counts) { return counts.last(); }) == kNow);
}

TEST_CASE("damage in any byte of the file is detected, and nothing of the file is used", "[no threads]") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("counts");
  BusiestSenders senders;
  for (KeyHash key = 1; key <= 3; ++key) send(senders, key, 5);
  write_counts(path, kOrigin, senders, 0);
  const std::uint64_t bytes = std::filesystem::file_size(path);
  for (std::uint64_t at = 0; at < bytes; ++at) {
    CAPTURE(at);
    test::flip_byte(path, at);
    BusiestSenders read;
    CHECK_THROWS_AS(read_counts(path, read, kNow), BloomgateError);
    CHECK(read.size() == 0);
    test::flip_byte(path, at);
  }
  BusiestSenders read;
  CHECK(read_counts(path, read, kNow));
}

TEST_CASE("a file of another kind is refused with the right error") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("counts");
  BusiestSenders senders;
  const auto code = [&] { return test::error_code_of([&] { read_counts(path, senders, kNow); }); };
  std::filesystem::create_directory(path);
  CHECK(code() == ErrorCode::not_a_regular_file);
  std::filesystem::remove(path);
  std::ofstream(path) << "short";
  CHECK(code() == ErrorCode::too_short);
  std::ofstream(path) << std::string(100, 'x');
  CHECK(code() == ErrorCode::bad_magic);
  write_counts(path, kOrigin, senders, 0);
  for (const std::uint64_t at : {8U, 12U}) {  // the version, and the size of a sender
    test::flip_byte(path, at);
    CHECK(code() == ErrorCode::unsupported_version);
    test::flip_byte(path, at);
  }
  std::ofstream(path, std::ios::app) << "more";
  CHECK(code() == ErrorCode::wrong_size);
  std::filesystem::resize_file(path, 48 + sizeof(SenderCounts));
  CHECK(code() == ErrorCode::wrong_size);
  std::filesystem::remove(path);
  std::filesystem::create_symlink(path, path);
  CHECK(code() == ErrorCode::cannot_open);
}

TEST_CASE("counts that cannot be written whole leave the file as it was") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("counts");
  BusiestSenders senders;
  write_counts(path, kOrigin, senders, 0);
  for (KeyHash key = 1; key <= 3000; ++key) send(senders, spread(key), 1);
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit low = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
  const ErrorCode code = test::error_code_of([&] { write_counts(path, kOrigin, senders, 0); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  CHECK(code == ErrorCode::cannot_write);
  CHECK(std::filesystem::file_size(path) == 48);
}

TEST_CASE("other users cannot read the file") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("counts");
  write_counts(path, kOrigin, BusiestSenders(), 0);
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
}

}  // namespace
}  // namespace bloomgate
