#include "filter/file/filter_writer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/section_stream.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/largest_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

// More than one chunk of checksums.
constexpr FilterHeader kHeader = {.shape = {.block_count = 300}, .expected_entries = 1};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST_CASE_METHOD(InFolder, "the parts of a body may come in any order") {
  const std::vector<std::byte> body(300 * 4096, std::byte{0x5a});
  for (const bool backwards : {false, true}) {
    FilterWriter writer(folder.file(backwards ? "b" : "a"), kHeader);
    const std::span<const std::byte> first = std::span(body).first(kChecksumChunkBytes);
    const std::span<const std::byte> rest = std::span(body).subspan(kChecksumChunkBytes);
    if (backwards) writer.write(SectionKind::bits, kChecksumChunkBytes, rest);
    writer.write(SectionKind::bits, 0, first);
    if (!backwards) writer.write(SectionKind::bits, kChecksumChunkBytes, rest);
    writer.commit(kHeader);
  }
  CHECK(read_file(folder.file("a")) == read_file(folder.file("b")));
  CHECK_NOTHROW(MappedFilter(folder.file("a")).verify_body());
}

TEST_CASE_METHOD(InFolder, "there may be fewer domain entries than were reserved, also none") {
  const std::vector<std::byte> bits(300 * 4096);
  const auto domains = GENERATE(values<std::uint64_t>({0, 1, 1000, 200'000}));
  CAPTURE(domains);
  FilterHeader header = kHeader;
  header.domains = 400'000;
  FilterWriter writer(folder.file("filter"), header);
  writer.write(SectionKind::bits, 0, bits);
  SectionStream stream(writer.file(), SectionKind::domains);
  for (KeyHash hash = 1; hash <= domains; ++hash) stream.add(std::vector{hash, hash});
  header.domains = stream.finish();
  CHECK(header.domains == domains);
  writer.commit(header);
  CHECK(fs::file_size(folder.file("filter")) == file_bytes(header));
  const MappedFilter filter(folder.file("filter"));
  CHECK_NOTHROW(filter.verify_body());
  CHECK(filter.view().domains().size() == domains);
  for (KeyHash hash = 0; hash <= domains + 1; ++hash) {
    const bool want = hash >= 1 && hash <= domains;
    if (filter.view().domains().contains(hash) != want) FAIL(hash);
  }
}

TEST_CASE_METHOD(InFolder, "a stream keeps each hash once, the least and the greatest of all too") {
  constexpr KeyHash kGreatest = ~KeyHash{0};
  FilterHeader header = kHeader;
  header.domains = 6;
  FilterWriter writer(folder.file("filter"), header);
  writer.write(SectionKind::bits, 0, std::vector<std::byte>(300 * 4096));
  SectionStream stream(writer.file(), SectionKind::domains);
  stream.add(std::vector<KeyHash>{0, 0, 1});
  stream.add({});
  stream.add(std::vector<KeyHash>{1, kGreatest, kGreatest});
  header.domains = stream.finish();
  CHECK(header.domains == 3);
  writer.commit(header);
  const MappedFilter filter(folder.file("filter"));
  CHECK_NOTHROW(filter.verify_body());
  for (const KeyHash hash : {KeyHash{0}, KeyHash{1}, kGreatest}) CHECK(filter.view().domains().contains(hash));
}

TEST_CASE_METHOD(InFolder, "a writer that is not committed leaves the old file and nothing else") {
  write_file(folder.file("filter"), "old");
  {
    FilterWriter writer(folder.file("filter"), kHeader);
    writer.write(SectionKind::bits, 0, std::vector<std::byte>(300 * 4096));
    CHECK(read_file(folder.file("filter")) == "old");
  }
  CHECK(read_file(folder.file("filter")) == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"filter"});
}

TEST_CASE_METHOD(InFolder, "after a commit the folder has the file and nothing else") {
  build_filter(folder.file("filter"), {"joe@example.org"});
  CHECK(names_in(folder.path()) == std::vector<std::string>{"filter"});
}

TEST_CASE_METHOD(WithPath, "the new file has the permissions of the one it replaces") {
  write_file(path, "old");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  build_filter(path, {"joe@example.org"});
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
}

// Somebody else for as long as it lives: nobody, who may not give files away.
class Nobody {
 public:
  Nobody() {
    REQUIRE(setegid(kId) == 0);
    REQUIRE(seteuid(kId) == 0);
  }
  ~Nobody() {
    if (seteuid(0) != 0 || setegid(0) != 0) std::abort();
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

  static constexpr unsigned kId = 65534;
};

TEST_CASE("the new file keeps owner, group and permissions of the old one as far as the writer may set them") {
  if (geteuid() != 0) return;  // only root can give files away
  struct Row {
    const char* name;
    uid_t old_owner;
    gid_t old_group;
    mode_t old_mode;
    bool as_nobody;
    uid_t owner;
    gid_t group;
    mode_t mode;
  };
  const Row row = GENERATE(values<Row>({
      {"root writes over a file of others", 1234, 5678, 0640, false, 1234, 5678, 0640},
      {"root writes over one that all may write", 0, 5678, 0666, false, 0, 5678, 0666},
      {"what is more than permissions is not kept", 0, 0, 06755, false, 0, 0, 0755},
      {"its owner writes over his file, of a group that is not his", Nobody::kId, 5678, 0640, true, Nobody::kId,
       Nobody::kId, 0640},
      {"somebody writes over a file of root's, as a new one of his own", 0, 0, 0600, true, Nobody::kId, Nobody::kId,
       0644},
  }));
  INFO(row.name);
  const TemporaryFolder folder;
  REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  const std::string path = folder.file("filter");
  write_file(path, "old");
  REQUIRE(chown(path.c_str(), row.old_owner, row.old_group) == 0);
  REQUIRE(chmod(path.c_str(), row.old_mode) == 0);
  const mode_t old_mask = umask(0022);
  {
    std::optional<Nobody> nobody;
    if (row.as_nobody) nobody.emplace();
    build_filter(path, {"joe@example.org"});
  }
  umask(old_mask);
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == row.owner);
  CHECK(status.st_gid == row.group);
  CHECK((status.st_mode & 07777) == row.mode);
}

TEST_CASE_METHOD(InFolder, "if the path is a link, the file that it leads to is replaced and the link stays") {
  fs::create_directory(folder.path() / "data");
  write_file(folder.path() / "data" / "real", "old");
  fs::create_symlink("data/real", folder.path() / "link");
  build_filter(folder.file("link"), {"joe@example.org"});
  CHECK(fs::is_symlink(folder.path() / "link"));
  CHECK(MappedFilter((folder.path() / "data" / "real").string()).header().addresses == 1);
  CHECK(names_in(folder.path() / "data") == std::vector<std::string>{"real"});
}

TEST_CASE_METHOD(InFolder, "an output that cannot be written is refused by name, and nothing is left behind") {
  fs::create_directory(folder.path() / "directory");
  REQUIRE(mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  struct Row {
    std::string name;
    ErrorCode want;
  };
  const Row row = GENERATE(values<Row>({{"directory", ErrorCode::not_a_regular_file},
                                        {"fifo", ErrorCode::not_a_regular_file},
                                        {"missing/filter", ErrorCode::cannot_write},
                                        {std::string(300, 'x'), ErrorCode::cannot_write}}));
  CAPTURE(row.name);
  CHECK(error_code_of([&] { build_filter(folder.file(row.name), {"joe@example.org"}); }) == row.want);
  CHECK(names_in(folder.path()).size() == 2);
}

TEST_CASE_METHOD(InFolder, "a name that cannot be examined is reported itself, and not its folder") {
  const std::string path = folder.file(std::string(300, 'x'));
  CHECK_THROWS_WITH(FilterWriter(path, kHeader), "look at " + path + ": File name too long");
}

TEST_CASE_METHOD(InFolder, "a file system without room is noticed before the work, and nothing is left behind") {
  {
    const LargestFile small(100'000);
    CHECK(error_code_of([&] { FilterWriter(folder.file("filter"), kHeader); }) == ErrorCode::cannot_write);
  }
  CHECK(names_in(folder.path()).empty());
}

TEST_CASE_METHOD(InFolder, "the temporary file of a killed writer is removed, and nothing else") {
  const std::string stale = ".filter.tmp-123";
  // Names that only resemble one, another filter's, and what is no file.
  const std::vector<std::string> others = {".filter.tmp-", ".filter.tmp-12x", ".other.tmp-123", "filter.tmp-123",
                                           ".filter.tmp-1.bak"};
  write_file(folder.file(stale), "left");
  for (const std::string& name : others) write_file(folder.file(name), "keep");
  fs::create_symlink(".other.tmp-123", folder.path() / ".filter.tmp-7");
  REQUIRE(mkfifo(folder.file(".filter.tmp-8").c_str(), 0600) == 0);
  const FilterWriter living(folder.file("filter"), kHeader);
  CHECK_FALSE(fs::exists(folder.file(stale)));
  for (const std::string& name : others) CHECK(fs::exists(folder.file(name)));
  CHECK(fs::exists(folder.file(".filter.tmp-8")));
  CHECK(fs::is_symlink(folder.path() / ".filter.tmp-7"));
  // A second writer leaves the living one's file alone, and both complete.
  const std::size_t before = names_in(folder.path()).size();
  build_filter(folder.file("filter"), {"joe@example.org"});
  CHECK(names_in(folder.path()).size() == before + 1);
}

}  // namespace
}  // namespace bloomgate::test
