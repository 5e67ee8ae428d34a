#include "milter/lists/exact_list_file.hpp"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

std::string write_list(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder.file("revoked.txt");
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

ErrorCode code_of_loading(const std::string& path, std::uint64_t most_bytes = kMostExactListBytes) {
  const BloomgateError error = error_of([&] { load_exact_list(path, ListOf::senders, most_bytes); });
  CHECK(error.details().path == path);
  CHECK_THAT(error.what(), Contains(path));
  return error.code();
}

TEST_CASE_METHOD(InFolder, "an exact list is read from its file, bad lines with their places") {
  const ExactListReading reading = load_exact_list(write_list(folder, "joe@example.org\noops\n@corp.example"));
  CHECK(reading.list.size() == 2);
  CHECK(reading.list.find(canonicalize_path("<mary@corp.example>")).match == Match::domain);
  REQUIRE(reading.bad_lines.size() == 1);
  CHECK(reading.bad_lines[0].number == 2);
}

TEST_CASE_METHOD(InFolder, "an empty file is an empty exact list") {
  CHECK(load_exact_list(write_list(folder, "")).list.size() == 0);
}

TEST_CASE_METHOD(InFolder, "a file that was emptied a moment ago is read once nobody writes to it any more") {
  const std::string path = write_list(folder, "");
  CHECK(load_exact_list(path).list.size() == 0);
  const auto age = std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path);
  CHECK(age >= std::chrono::milliseconds(300));
}

TEST_CASE_METHOD(InFolder, "a file whose last line has its end is read without a wait, though it was just written") {
  const std::string text = "joe@example.org\n";
  for (int attempt = 0; attempt < 100; ++attempt) {  // this machine may have been busy
    const std::string path = write_list(folder, text);
    CHECK(load_exact_list(path).bad_lines.empty());
    const auto age = std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path);
    if (age < std::chrono::milliseconds(250)) return;
  }
  FAIL("it waits for the file to rest");
}

TEST_CASE_METHOD(InFolder, "a file that is unreadable, not text or too large is refused as an exact list") {
  CHECK(code_of_loading(folder.file("missing.txt")) == ErrorCode::cannot_open);
  CHECK_THROWS_WITH(load_exact_list(folder.file("missing.txt")), Contains("No such file or directory"));
  CHECK(code_of_loading("/proc/self") == ErrorCode::not_a_regular_file);
  const std::string fifo = folder.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(code_of_loading(fifo) == ErrorCode::not_a_regular_file);
  const std::string path = write_list(folder, "joe@example.org\n");
  CHECK(code_of_loading(path, 15) == ErrorCode::bad_input);
  CHECK(load_exact_list(path, ListOf::senders, 16).list.size() == 1);
  CHECK(code_of_loading(write_list(folder, "joe@example.org\nann@exam\xff\n")) == ErrorCode::bad_input);
  CHECK(code_of_loading(write_list(folder, std::string("joe@exam\0", 9))) == ErrorCode::bad_input);
  CHECK(code_of_loading("/proc/self/mem") == ErrorCode::cannot_read);  // its first page is never there
  // A file of /proc says that it has no bytes, and then has some: as one that grows while it is read.
  CHECK(code_of_loading("/proc/self/status") == ErrorCode::cannot_read);
}

TEST_CASE_METHOD(InFolder, "half a line is not read as another entry") {
  const std::string path = write_list(folder, "joe@example.co");
  ExactListReading reading;
  std::thread reader([&] { reading = load_exact_list(path); });
  std::ofstream(path, std::ios::app) << "m\n";
  reader.join();
  CHECK(reading.list.find(canonicalize_path("<joe@example.com>")).match == Match::address);
  CHECK(reading.list.size() == 1);
}

TEST_CASE_METHOD(InFolder, "a last line without an end is read after 300 ms without a write to the file") {
  const std::string path = write_list(folder, "joe@example.org");
  const auto written = std::filesystem::file_time_type::clock::now() - std::chrono::milliseconds(100);
  std::filesystem::last_write_time(path, written);
  CHECK(load_exact_list(path).list.size() == 1);
  CHECK(std::filesystem::file_time_type::clock::now() - written >= std::chrono::milliseconds(300));
}

TEST_CASE_METHOD(
    InFolder,
    "a last line without an end is read also if the file's time is in the future, as with a file server's clock") {
  const std::string path = write_list(folder, "joe@example.org");
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(load_exact_list(path).list.size() == 1);
}

TEST_CASE_METHOD(InFolder, "a file that is still being written to is refused as an exact list") {
  const std::string path = write_list(folder, "joe@example.org");
  std::atomic<bool> is_read{false};
  std::jthread writer([&] {
    std::ofstream file(path, std::ios::app);
    while (!is_read) file << 'x' << std::flush;
  });
  CHECK(code_of_loading(path) == ErrorCode::cannot_read);
  is_read = true;
}

}  // namespace
}  // namespace bloomgate::test
