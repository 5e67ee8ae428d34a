#include "filter/file/file_part.hpp"

#include <filesystem>
#include <random>

#include "filter/base/error.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/largest_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

// Three chunks, a page, and a part of one, which is not written past the page cache.
constexpr std::uint64_t kBlocks = (3 * kChecksumChunkBytes + 4096) / 8 + 88;
const FilterHeader kHeader = {
    .shape = {.layout = Layout::classic, .hashes = 6, .block_bytes = 8, .block_count = kBlocks}, .expected_entries = 1};

class Bits {
 public:
  Bits() : memory_(kBlocks * 8, "a test") {
    std::mt19937_64 chance(1);
    for (std::byte& byte : memory_.bytes()) byte = static_cast<std::byte>(chance());
  }
  std::span<const std::byte> chunk(std::uint64_t number) const {
    const auto all = memory_.bytes();
    const std::uint64_t begin = number * kChecksumChunkBytes;
    return all.subspan(begin, std::min(kChecksumChunkBytes, all.size() - begin));
  }

 private:
  AnonymousMemory memory_;
};

std::string written_by_one(const TemporaryFolder& folder, const Bits& bits) {
  FilterWriter writer(folder.file("one"), kHeader);
  for (std::uint64_t chunk = 0; chunk < 4; ++chunk) {
    writer.write(SectionKind::bits, chunk * kChecksumChunkBytes, bits.chunk(chunk));
  }
  writer.commit(kHeader);
  return read_file(folder.file("one"));
}

TEST_CASE_METHOD(InFolder, "a file that two processes write in parts has the bytes of one writer") {
  const Bits bits;
  FilterWriter writer(folder.file("shared"), kHeader);
  const std::uint64_t mark = writer.file().mark();
  writer.write(SectionKind::bits, 0, bits.chunk(0));
  FilePart part(writer.file().temporary_path(), mark, kHeaderBytes, 1, 3);
  REQUIRE(part.is_open());
  CHECK(part.first_chunk() == 1);
  for (const std::uint64_t chunk : {3U, 1U, 2U}) part.write(chunk, bits.chunk(chunk));
  const std::vector<std::uint64_t> checksums = part.finish(2);
  CHECK_FALSE(part.is_open());
  writer.file().note_made(SectionKind::bits, 1, checksums);
  writer.commit(kHeader, 2);
  CHECK(read_file(folder.file("shared")) == written_by_one(folder, bits));
  CHECK_NOTHROW(MappedFilter(folder.file("shared")).verify_body());
}

TEST_CASE_METHOD(InFolder, "another file at the path of the temporary file is refused") {
  FilterWriter writer(folder.file("shared"), kHeader);
  const std::uint64_t mark = writer.file().mark();
  const std::string path = writer.file().temporary_path();
  CHECK(FilePart(path, mark, kHeaderBytes, 1, 3).is_open());
  CHECK_FALSE(FilePart(path, mark + 1, kHeaderBytes, 1, 3).is_open());
  CHECK_FALSE(FilePart(path + "0", mark, kHeaderBytes, 1, 3).is_open());
  CHECK_FALSE(FilePart(folder.path(), mark, kHeaderBytes, 1, 3).is_open());
  std::filesystem::create_symlink(path, folder.file("link"));
  CHECK_FALSE(FilePart(folder.file("link"), mark, kHeaderBytes, 1, 3).is_open());
  write_file(folder.file("short"), "1234567");
  CHECK_FALSE(FilePart(folder.file("short"), mark, kHeaderBytes, 1, 3).is_open());
}

TEST_CASE_METHOD(InFolder, "a part that is not on the disk as it was written is refused") {
  const Bits bits;
  FilterWriter writer(folder.file("shared"), kHeader);
  const std::uint64_t mark = writer.file().mark();
  const std::string path = writer.file().temporary_path();
  FilePart part(path, mark, kHeaderBytes, 1, 3);
  for (const std::uint64_t chunk : {1U, 2U, 3U}) part.write(chunk, bits.chunk(chunk));
  flip_byte(path, kHeaderBytes + 2 * kChecksumChunkBytes + 77);
  const BloomgateError changed = error_of([&] { part.finish(1); });
  CHECK(changed.code() == ErrorCode::bad_body_checksum);
  CHECK(changed.details().offset == kHeaderBytes + 2 * kChecksumChunkBytes);
  FilePart again(path, mark, kHeaderBytes, 1, 3);
  for (const std::uint64_t chunk : {1U, 2U, 3U}) again.write(chunk, bits.chunk(chunk));
  std::filesystem::resize_file(path, kHeaderBytes + 3 * kChecksumChunkBytes);
  const BloomgateError cut = error_of([&] { again.finish(1); });
  CHECK(cut.code() == ErrorCode::cannot_read);
  CHECK_THAT(cut.what(), StartsWith("read back " + path + ": "));
}

TEST_CASE_METHOD(InFolder, "a part that cannot be written is refused with the system's reason") {
  FilterWriter writer(folder.file("shared"), kHeader);
  const std::uint64_t mark = writer.file().mark();
  const std::string path = writer.file().temporary_path();
  FilePart part(path, mark, kHeaderBytes, 1, 3);
  const Bits bits;
  const LargestFile small(kHeaderBytes);
  const BloomgateError error = error_of([&] { part.write(1, bits.chunk(1)); });
  CHECK(error.code() == ErrorCode::cannot_write);
  CHECK(error.what() == "write " + path + ": File too large");
}

TEST_CASE_METHOD(InFolder, "a section that is begun anew is read back anew") {
  const Bits bits;
  FilterWriter writer(folder.file("shared"), kHeader);
  std::vector<std::uint64_t> checksums;
  for (std::uint64_t chunk = 0; chunk < 4; ++chunk) checksums.push_back(checksum(bits.chunk(chunk)));
  writer.file().note_made(SectionKind::bits, 0, checksums);
  writer.forget(SectionKind::bits);
  for (std::uint64_t chunk = 0; chunk < 4; ++chunk) {
    writer.write(SectionKind::bits, chunk * kChecksumChunkBytes, bits.chunk(chunk));
  }
  flip_byte(writer.file().temporary_path(), kHeaderBytes + 77);
  CHECK(error_code_of([&] { writer.commit(kHeader); }) == ErrorCode::bad_body_checksum);
}

// Its pages are shared with the table of checksums, which another machine may have written over.
TEST_CASE_METHOD(InFolder, "the writer reads back the last chunk of a section, and its own part") {
  const Bits bits;
  for (const std::uint64_t damaged : {0U, 1U, 2U, 3U}) {
    INFO(damaged);
    FilterWriter writer(folder.file("shared"), kHeader);
    const std::uint64_t mark = writer.file().mark();
    const std::string path = writer.file().temporary_path();
    writer.write(SectionKind::bits, 0, bits.chunk(0));
    FilePart part(path, mark, kHeaderBytes, 1, 3);
    for (const std::uint64_t chunk : {1U, 2U, 3U}) part.write(chunk, bits.chunk(chunk));
    writer.file().note_made(SectionKind::bits, 1, part.finish(1));
    flip_byte(path, kHeaderBytes + damaged * kChecksumChunkBytes + 77);
    if (damaged == 0 || damaged == 3) {
      CHECK(error_code_of([&] { writer.commit(kHeader); }) == ErrorCode::bad_body_checksum);
    } else {
      CHECK_NOTHROW(writer.commit(kHeader));  // they were read where they were written
    }
  }
}

}  // namespace
}  // namespace bloomgate::test
