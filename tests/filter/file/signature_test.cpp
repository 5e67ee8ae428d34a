// A filter is signed, and what somebody else has made, or changed, is refused where a key is trusted: FORMAT.md,
// "Signature". tests/bad/signed has more of that, file by file.
#include "filter/file/signature.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "filter/base/little_endian.hpp"
#include "filter/engine/combine.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/keep/sign_filter.hpp"
#include "tests/support/build_with_strangers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = fs::path(source_folder()) / "tests";

const TrustedKeys& trusted() {
  static const TrustedKeys kKeys = {signing_key().public_key()};
  return kKeys;
}

void load_trusted(const std::string& path, const TrustedKeys& keys = trusted()) {
  MappedFilter(path).verify_body(2, {}, keys);
}

std::string outcome_of(const std::string& path, const TrustedKeys& keys) {
  try {
    load_trusted(path, keys);
    return "sound";
  } catch (const BloomgateError& error) {
    return std::string(error_code_name(error.code()));
  }
}

void sign(const std::string& path, const SecretKey& key = signing_key()) {
  REQUIRE(sign_filter(path, path, key, 2) == Signing::done);
}

// All XXH3 checksums are made right again, as somebody would who has put other content in.
void mend_checksums(std::string& image, const Sections& sections) {
  const auto bytes = std::as_writable_bytes(std::span(image));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    const auto table = bytes.subspan(section.table_offset(), section.table_bytes());
    for (std::uint64_t chunk = 0; chunk < section.chunk_count(); ++chunk) {
      const std::uint64_t begin = chunk * kChecksumChunkBytes;
      const auto part = bytes.subspan(section.offset + begin, std::min(kChecksumChunkBytes, section.bytes - begin));
      store_little_endian(table.data() + chunk * sizeof(std::uint64_t), checksum(part));
    }
    store_little_endian(bytes.data() + section_offset(i) + kSectionTableChecksumField.offset, checksum(table));
  }
  put_checksum(bytes.first<kHeaderBytes>());
}

// A signed filter with all sections, as bytes.
struct SignedFilter {
  // With room for `expected`, if that is given.
  explicit SignedFilter(std::uint64_t addresses = 50, std::optional<std::uint64_t> expected = {}) {
    std::vector<std::string> lines = numbered_addresses(0, addresses);
    for (int i = 0; i < 5; ++i) lines.push_back("@d" + std::to_string(i) + ".example");
    build_with_strangers(path, lines, numbered_addresses(addresses, 4000),
                         {.hashes = 1, .expected_entries = expected, .seed = 42});
    sign(path);
    image = read_file(path);
    sections = MappedFilter(path).sections();
  }
  // What becomes of another file.
  std::string outcome(const std::string& other) const {
    write_file(folder.file("other"), other);
    return outcome_of(folder.file("other"), trusted());
  }
  TemporaryFolder folder;
  std::string path = folder.file("filter");
  std::string image;
  Sections sections;
};

TEST_CASE_METHOD(WithPath, "a signed filter lists the same senders as before, and names its signer") {
  build_filter(path, {"joe@example.org", "@example.net"});
  const MappedFilter before(path);
  sign(path);
  const MappedFilter after(path);
  CHECK(after.header() == before.header());
  CHECK(after.view().may_contain("joe@example.org"));
  CHECK(fingerprint_of(after) == fingerprint_of(before));
  REQUIRE(after.signature());
  CHECK(after.signature()->signer == trusted().front());
  CHECK_FALSE(before.signature());
  CHECK(outcome_of(path, trusted()) == "sound");
  CHECK(outcome_of(path, {other_signing_key().public_key(), trusted().front()}) == "sound");
  CHECK(outcome_of(path, {}) == "sound");
}

TEST_CASE_METHOD(WithPath, "an unsigned filter and one signed by another key are refused with what to do") {
  build_filter(path, {"joe@example.org"});
  CHECK(outcome_of(path, trusted()) == "bad_signature");
  CHECK_THROWS_WITH(load_trusted(path), Contains(path) && Contains("is not signed") && Contains("bloomgate sign"));
  CHECK(error_code_of([&] { MappedFilter(path).require_signer(trusted()); }) == ErrorCode::bad_signature);
  sign(path, other_signing_key());
  CHECK(outcome_of(path, trusted()) == "bad_signature");
  CHECK_THROWS_WITH(load_trusted(path), Contains(other_signing_key().public_key().text()));
}

TEST_CASE_METHOD(InFolder, "the golden signed file is made again byte for byte") {
  REQUIRE(sign_filter((kTests / "golden/addresses.bloom").string(), folder.file("signed"), signing_key(), 1) ==
          Signing::done);
  CHECK(read_file(folder.file("signed")) == read_file(kTests / "golden/signed.bloom"));
  CHECK(outcome_of((kTests / "golden/signed.bloom").string(), trusted()) == "sound");
}

TEST_CASE("every file of the corpus of signed files is accepted or refused as the corpus says") {
  std::istringstream table(read_file(kTests / "bad/signed/expected.tsv"));
  std::set<std::string> files;
  for (const auto& file : fs::directory_iterator(kTests / "bad/signed")) {
    if (file.path().extension() == ".bloom") files.insert(file.path().filename());
  }
  CHECK(files.size() >= 20);
  for (std::string name, without, with; table >> name >> without >> with;) {
    CAPTURE(name);
    const std::string path = (kTests / "bad/signed" / name).string();
    CHECK(outcome_of(path, {}) == without);
    CHECK(outcome_of(path, trusted()) == with);
    CHECK(files.erase(name) == 1);
  }
  CHECK(files.empty());
}

TEST_CASE("a change of any byte of a signed file is noticed, even with all checksums corrected") {
  const SignedFilter filter;
  REQUIRE(filter.sections.size() == 3);
  REQUIRE(filter.outcome(filter.image) == "sound");
  for (std::size_t at = 0; at < filter.image.size(); at += at < 256 || (at >= 3930 && at < 4110) ? 1 : 37) {
    CAPTURE(at);
    std::string damaged = filter.image;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    CHECK(filter.outcome(damaged) != "sound");
    // The last field of the header is mended itself.
    if (at >= kHeaderChecksumField.offset && at < kHeaderBytes) continue;
    std::string mended = damaged;
    mend_checksums(mended, filter.sections);
    // A table is, too.
    if (mended == filter.image) continue;
    CHECK(filter.outcome(mended) != "sound");
  }
}

TEST_CASE("the content of each section is signed, whatever its checksums say") {
  const SignedFilter filter;
  for (const Section& section : filter.sections) {
    CAPTURE(section_name(section.kind));
    std::string other = filter.image;
    // The hashes stay in their order.
    const std::size_t at = section.offset + (section.kind == SectionKind::bits ? 0 : section.bytes - 8);
    other[at] = static_cast<char>(other[at] ^ 1);
    mend_checksums(other, filter.sections);
    CHECK(filter.outcome(other) == "bad_signature");
    write_file(filter.folder.file("other"), other);
    CHECK(outcome_of(filter.folder.file("other"), {}) == "sound");
  }
}

TEST_CASE("exchanging two pieces of a large signed file is noticed") {
  const SignedFilter filter(20'000, 3'500'000);
  REQUIRE(filter.outcome(filter.image) == "sound");
  REQUIRE(filter.sections.front().chunk_count() >= 4);
  std::string other = filter.image;
  std::swap_ranges(other.begin() + kHeaderBytes, other.begin() + kHeaderBytes + kPieceBytes,
                   other.begin() + kHeaderBytes + kPieceBytes);
  mend_checksums(other, filter.sections);
  CHECK(filter.outcome(other) == "bad_signature");
  // The last bytes of the last piece of the bits.
  other = filter.image;
  other[filter.sections.front().table_offset() - 1] ^= 1;
  mend_checksums(other, filter.sections);
  CHECK(filter.outcome(other) == "bad_signature");
}

TEST_CASE("a header of one file does not sign the content of another") {
  const SignedFilter filter;
  const SignedFilter same;
  std::string other = filter.image;
  other[kHeaderBytes] ^= 1;
  mend_checksums(other, filter.sections);
  // What somebody has who finds two contents with the same XXH3: the signed header fits both.
  auto bytes = std::as_writable_bytes(std::span(other));
  std::array<std::byte, kHeaderBytes> header;
  std::ranges::copy(bytes.first<kHeaderBytes>(), header.begin());
  MappedFilter signed_filter(filter.path);
  sign_header(header, signed_filter.signature()->content, signing_key());
  std::ranges::copy(header, bytes.begin());
  CHECK(filter.outcome(other) == "bad_signature");
  write_file(filter.folder.file("other"), other);
  CHECK_THROWS_WITH(load_trusted(filter.folder.file("other")), Contains("does not hold what"));
  CHECK(same.image == filter.image);  // the same filter and key give the same bytes
}

TEST_CASE_METHOD(WithPath, "signing replaces the file by a signed copy, and a reader with the old file open keeps it") {
  build_filter(path, {"joe@example.org"});
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const std::string before = read_file(path);
  const MappedFilter open(path);
  sign(path);
  CHECK_FALSE(open.damaged());
  CHECK_NOTHROW(open.verify_body());
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
  sign_filter(path, folder.file("copy"), other_signing_key(), 1);
  CHECK(outcome_of(path, trusted()) == "sound");
  CHECK(outcome_of(folder.file("copy"), {other_signing_key().public_key()}) == "sound");
}

TEST_CASE_METHOD(WithPath, "a file that already has the signature is not written again") {
  build_filter(path, {"joe@example.org"});
  sign(path);
  const MappedFilter signed_filter(path);
  CHECK(sign_filter(path, path, signing_key(), 1) == Signing::was_there);
  CHECK(FileStamp::of(signed_filter.descriptor()) == signed_filter.stamp());
  CHECK(sign_filter(path, folder.file("copy"), signing_key(), 1) == Signing::done);
  CHECK(read_file(folder.file("copy")) == read_file(path));
  // Another signer takes it over, and one that was spoiled is mended.
  CHECK(sign_filter(path, path, other_signing_key(), 1) == Signing::done);
  CHECK(outcome_of(path, trusted()) == "bad_signature");
  std::string image = read_file(folder.file("copy"));
  image[kSignatureField.offset] ^= 1;
  put_checksum(std::as_writable_bytes(std::span(image)).first<kHeaderBytes>());
  write_file(path, image);
  CHECK(sign_filter(path, path, signing_key(), 1) == Signing::done);
  CHECK(outcome_of(path, trusted()) == "sound");
}

TEST_CASE_METHOD(WithPath, "a damaged file is not signed") {
  build_filter(path, {"joe@example.org"});
  std::string image = read_file(path);
  image[kHeaderBytes + 7] ^= 1;
  write_file(path, image);
  CHECK(error_code_of([&] { sign_filter(path, path, signing_key(), 1); }) == ErrorCode::bad_body_checksum);
  CHECK(read_file(path) == image);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE_METHOD(InFolder, "a filter is signed before it gets its name if a key is given, and otherwise not") {
  const auto key = std::make_shared<const SecretKey>(signing_key());
  const BuildOptions options = {.expected_entries = 100, .seed = 42, .sign_key = key};
  build_filter(folder.file("a"), {"joe@example.org"}, options);
  build_filter(folder.file("b"), {"ann@example.org"}, options);
  CHECK(outcome_of(folder.file("a"), trusted()) == "sound");
  BuildOptions with_store = options;
  with_store.store_path = folder.file("store");
  build_filter(folder.file("c"), {"ann@example.org"}, with_store);
  CHECK(outcome_of(folder.file("c"), trusted()) == "sound");
  const MappedFilter a(folder.file("a")), b(folder.file("b"));
  const std::vector<const MappedFilter*> both = {&a, &b};
  combine_filters(both, Combination::unite, folder.file("signed"), 1, kNeverStop, key.get());
  CHECK(outcome_of(folder.file("signed"), trusted()) == "sound");
  combine_filters(both, Combination::unite, folder.file("plain"), 1, kNeverStop);
  CHECK_FALSE(MappedFilter(folder.file("plain")).signature());
}

TEST_CASE_METHOD(WithPath, "a file with more pieces than chunks is checked to its end") {
  build_filter(path, {"joe@example.org"}, {.bits_per_entry = 8, .expected_entries = kPieceBytes, .seed = 1});
  sign(path);
  // The bits are one chunk. Their checksum comes behind them, in the second piece.
  const std::uint64_t chunks = MappedFilter(path).sections().front().chunk_count();
  REQUIRE(chunks == 1);
  REQUIRE(piece_count(fs::file_size(path)) == 2);
  CHECK(outcome_of(path, trusted()) == "sound");
}

TEST_CASE("the pieces cover every byte after the header exactly once") {
  for (const std::uint64_t bytes : {kHeaderBytes + 1, kHeaderBytes + kPieceBytes - 1, kHeaderBytes + kPieceBytes,
                                    kHeaderBytes + kPieceBytes + 1, (std::uint64_t{1} << 33) + 4097}) {
    CAPTURE(bytes);
    std::uint64_t end = kHeaderBytes;
    for (std::uint64_t i = 0; i < piece_count(bytes); ++i) {
      const PiecePlace place = place_of_piece(i, bytes);
      if (place.offset != end || place.bytes == 0 || place.bytes > kPieceBytes) FAIL("piece " << i);
      end = place.offset + place.bytes;
    }
    CHECK(end == bytes);
  }
}

}  // namespace
}  // namespace bloomgate::test
