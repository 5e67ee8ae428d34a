#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/ingest/compressed_writer.hpp"
#include "filter/ingest/decompressor.hpp"
#include "filter/system/file_descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

using std::string_view_literals::operator""sv;

TEST_CASE("a compressed file is recognised by its first bytes, as soon as they are enough") {
  struct Row {
    std::string_view start;
    std::optional<Compression> want;  // nothing: more bytes are needed
  };
  const Row row = GENERATE(values<Row>({
      {"", std::nullopt},
      {"\x1f\x8b"sv, std::nullopt},
      {"\x1f\x8b\x08"sv, Compression::gzip},
      {"\x1f\x8b\x09"sv, Compression::none},
      {"\x28\xb5\x2f\xfdx"sv, Compression::zstd},
      {"\x50\x2a\x4d\x18"sv, Compression::zstd},
      {"\x5f\x2a\x4d\x18"sv, Compression::zstd},
      {"\x4f\x2a\x4d\x18"sv, Compression::none},
      {"\x60\x2a\x4d\x18"sv, Compression::none},
      {"\x5e"sv, std::nullopt},
      {"\x60"sv, Compression::none},
      {"\xfd\x37zXZ"sv, std::nullopt},
      {"\xfd\x37zXZ\0"sv, Compression::xz},
      {"BZh9\x31\x41\x59\x26\x53\x59"sv, Compression::bzip2},
      {"BZh1\x17\x72\x45\x38\x50\x90"sv, Compression::bzip2},
      {"BZh9"sv, std::nullopt},
      {"BZh9@"sv, Compression::none},
      {"joe@example.org"sv, Compression::none},
  }));
  CAPTURE(row.start);
  CHECK(recognise_compression(row.start, false) == row.want);
  CHECK(recognise_compression(row.start, true) == row.want.value_or(Compression::none));
}

// Text that cannot be made smaller.
std::string random_text(std::size_t bytes) {
  std::mt19937_64 random(1);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

Decompressor reader_of(const std::string& packed) {
  return Decompressor(Compression::zstd, "list", [&packed, at = std::size_t{0}](char* to, std::size_t bytes) mutable {
    const std::size_t count = packed.copy(to, bytes, std::min(at, packed.size()));
    at += count;
    return count;
  });
}

std::string read_in_thousands(const std::string& packed) {
  Decompressor reader = reader_of(packed);
  std::string text;
  std::string piece(1000, '\0');
  while (const std::size_t count = reader.read(piece.data(), piece.size())) text.append(piece, 0, count);
  return text;
}

struct Written : test::WithPath {
  std::string write(const std::string& text, bool is_compressed) const {
    const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    CompressedWriter writer(file.get(), "list", is_compressed);
    for (std::size_t at = 0; at < text.size(); at += 1000) writer.write(std::string_view(text).substr(at, 1000));
    writer.finish();
    return test::read_file(path);
  }
};

TEST_CASE_METHOD(Written, "text of any length is written compressed, or as it is") {
  for (const std::size_t bytes : {0U, 1U, 700'000U}) {
    CAPTURE(bytes);
    const std::string text = random_text(bytes);
    CHECK((write(text, false) == text));
    const std::string packed = write(text, true);
    CHECK((packed != text));
    CHECK((read_in_thousands(packed) == text));
  }
}

TEST_CASE_METHOD(Written, "a changed byte of compressed text is found when it is read") {
  std::string packed = write(random_text(5000), true);
  packed[packed.size() / 2] ^= 1;
  const BloomgateError error = test::error_of([&] { read_in_thousands(packed); });
  CHECK(error.code() == ErrorCode::bad_input);
  CHECK(error.details().path == "list");
}

TEST_CASE_METHOD(Written, "the error of compressed text that is cut off says how much was read before") {
  const std::string packed = write(random_text(300'000), true).substr(0, 299'000);
  CHECK_THROWS_WITH(read_in_thousands(packed), Catch::Matches("the zstd data of list are damaged or cut off; get a "
                                                              "complete copy \\([0-9]{6} bytes of text or more were "
                                                              "read\\)"));
}

TEST_CASE("an error of what is decompressed is passed on") {
  Decompressor reader(Compression::gzip, "list", [](char*, std::size_t) -> std::size_t {
    throw BloomgateError(ErrorCode::interrupted, "stopped");
  });
  char c = 0;
  CHECK(test::error_code_of([&] { reader.read(&c, 1); }) == ErrorCode::interrupted);
}

TEST_CASE_METHOD(test::WithPath, "a list is written piece by piece, and a failure names it") {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  CompressedWriter writer(file.get(), "list", false);
  const std::string half(std::size_t{1} << 17, 'x');
  writer.write(half);
  CHECK(std::filesystem::file_size(path) == 0);
  writer.write(half);
  CHECK(std::filesystem::file_size(path) == 2 * half.size());
  const FileDescriptor closed(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (const bool is_compressed : {false, true}) {
    CompressedWriter failing(closed.get(), "list", is_compressed);
    failing.write("joe@example.org\n");
    const BloomgateError error = test::error_of([&] { failing.finish(); });
    CHECK(error.code() == ErrorCode::cannot_write);
    CHECK_THAT(error.what(), Catch::Contains("write list: Bad file descriptor"));
  }
}

}  // namespace
}  // namespace bloomgate
