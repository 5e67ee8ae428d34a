// The manifest of a whitelist: FORMAT.md, "Manifest". Each content has one text, and every other text is refused.
#include "filter/keep/manifest.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <span>

#include "filter/keep/sign_filter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(source_folder()) / "tests/golden";

Digest some_digest(std::uint8_t byte) {
  Digest digest;
  digest.fill(byte);
  return digest;
}

Manifest some_manifest() {
  const std::chrono::sys_seconds made(std::chrono::seconds(1'795'926'780));
  return {.list = "whitelist",
          .number = 7,
          .made = made,
          .holds_until = made + kManifestHolds,
          .files = {{"0001.bloom", 12'312, some_digest(1)},
                    {"0002.bloom", 8'200, some_digest(0xfe)},
                    {"revoked", 0, some_digest(3)}},
          .next_key = other_signing_key().public_key()};
}

// Signed by the key, whatever it says.
std::string signed_anyway(const std::string& content) {
  std::string text = content + "signer " + std::string(kSigningKeyText) + '\n';
  return text + "signature " + base64_of(signing_key().sign(std::as_bytes(std::span(text)))) + '\n';
}

// What is signed of a text, without its signer.
std::string content_of(const std::string& text) {
  return text.substr(0, text.find("signer "));
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

std::string refusal_of(const std::string& text) {
  const BloomgateError error = error_of([&] { parse_manifest(text, "layers/manifest"); });
  CHECK(error.code() == ErrorCode::bad_input);
  CHECK(error.details().path == "layers/manifest");
  CHECK_THAT(error.what(), Contains("bloomgate sign --key FILE"));
  return error.what();
}

TEST_CASE("a manifest that was signed is read again, with its signer") {
  const std::string text = sign_manifest(some_manifest(), signing_key());
  const SignedManifest read = parse_manifest(text, "manifest");
  CHECK(read.manifest == some_manifest());
  CHECK(read.signer == signing_key().public_key());
  CHECK(sign_manifest(read.manifest, signing_key()) == text);
  Manifest least = some_manifest();
  least.files.clear();
  least.next_key.reset();
  least.holds_until = least.made;
  CHECK(parse_manifest(sign_manifest(least, signing_key()), "manifest").manifest == least);
}

TEST_CASE("the golden manifest is written again byte for byte, and names the golden files") {
  const std::string golden = read_file(kGolden / "manifest");
  const SignedManifest read = parse_manifest(golden, "manifest");
  CHECK(read.manifest.list == "whitelist");
  CHECK(read.manifest.number == 1'795'926'780);
  CHECK(read.manifest.made == std::chrono::sys_seconds(std::chrono::seconds(1'795'926'780)));
  CHECK(read.manifest.holds_until - read.manifest.made == kManifestHolds);
  CHECK(read.manifest.next_key == other_signing_key().public_key());
  CHECK(read.signer.text() == kSigningKeyText);
  CHECK(sign_manifest(read.manifest, signing_key()) == golden);
  REQUIRE(read.manifest.files.size() == 2);
  for (const PublishedFile& file : read.manifest.files) {
    CHECK(describe_published((kGolden / file.name).string()) == file);
    CHECK_NOTHROW(require_published(file, (kGolden / file.name).string()));
  }
}

TEST_CASE("a text with any byte altered, added or lost is refused") {
  const std::string text = sign_manifest(some_manifest(), signing_key());
  for (std::size_t at = 0; at < text.size(); ++at) {
    CAPTURE(at);
    for (const unsigned bits : {1U, 0x20U, 0x80U}) {
      std::string altered = text;
      altered[at] = static_cast<char>(static_cast<unsigned char>(altered[at]) ^ bits);
      CHECK_THROWS_AS(parse_manifest(altered, "manifest"), BloomgateError);
    }
    CHECK_THROWS_AS(parse_manifest(text.substr(0, at), "manifest"), BloomgateError);
    CHECK_THROWS_AS(parse_manifest(std::string(text).erase(at, 1), "manifest"), BloomgateError);
    CHECK_THROWS_AS(parse_manifest(std::string(text).insert(at, 1, text[at]), "manifest"), BloomgateError);
  }
  CHECK_THROWS_AS(parse_manifest(text + "\n", "manifest"), BloomgateError);
  CHECK_THROWS_AS(parse_manifest(text + text, "manifest"), BloomgateError);
}

constexpr char kFile[] = "file 0001.bloom 12312 ";

struct BadText {
  const char* name;
  const char* what;  // of the content, which is replaced
  std::string by;
  unsigned line;
};

TEST_CASE("a text that no writer would write is refused with its line, even if it is signed") {
  const auto bad = GENERATE(values<BadText>({
      {"another version", "manifest 1", "manifest 2", 1},
      {"a space at the end", "manifest 1", "manifest 1 ", 1},
      {"a mark of the byte order", "bloomgate-",
       "\xef\xbb\xbf"
       "bloomgate-",
       1},
      {"CR LF", "manifest 1\n", "manifest 1\r\n", 1},
      {"an empty line", "list ", "\nlist ", 2},
      {"a comment", "list ", "# mine\nlist ", 2},
      {"no list", "list whitelist\n", "", 2},
      {"an empty name", "list whitelist", "list ", 2},
      {"a space in a name", "list whitelist", "list white list", 2},
      {"two spaces", "list whitelist", "list  whitelist", 2},
      {"a tab", "list whitelist", "list\twhitelist", 2},
      {"a hidden name", "list whitelist", "list .whitelist", 2},
      {"a slash", "list whitelist", "list a/b", 2},
      {"a long name", "list whitelist", "list " + std::string(64, 'a'), 2},
      {"a letter that is not ASCII", "list whitelist", "list wei\xc3\x9f", 2},
      {"a zero byte", "list whitelist", std::string("list white\0list", 15), 2},
      {"the number twice", "number 7\n", "number 7\nnumber 7\n", 4},
      {"no number", "number 7", "number ", 3},
      {"number 0", "number 7", "number 0", 3},
      {"a zero in front", "number 7", "number 07", 3},
      {"a sign", "number 7", "number +7", 3},
      {"a negative number", "number 7", "number -7", 3},
      {"a number past 2^63 - 1", "number 7", "number 9223372036854775808", 3},
      {"a number that wraps", "number 7", "number 18446744073709551617", 3},
      {"a hexadecimal number", "number 7", "number 0x7", 3},
      {"a date that does not exist", "made 2026-11-29", "made 2026-02-30", 4},
      {"an hour that does not exist", "T04:33:00Z", "T24:00:00Z", 4},
      {"a leap second", "T04:33:00Z", "T04:33:60Z", 4},
      {"a time zone", "T04:33:00Z", "T04:33:00+00:00", 4},
      {"a space in a time", "made 2026-11-29T", "made 2026-11-29 ", 4},
      {"a fraction of a second", "T04:33:00Z", "T04:33:00.5Z", 4},
      {"a time before 1970", "made 2026-11-29", "made 1969-11-29", 4},
      {"a sign in a time", "made 2026-11-29", "made 2026-+1-29", 4},
      {"a year of five digits", "holds-until 2026-12-13", "holds-until 12026-12-13", 5},
      {"an end before the beginning", "holds-until 2026-12-13", "holds-until 2026-11-28", 5},
      {"the times exchanged", "made 2026-11-29T04:33:00Z\n", "", 4},
      {"a path", kFile, "file ../0001.bloom 12312 ", 6},
      {"two dots", kFile, "file 00..01.bloom 12312 ", 6},
      {"the folder above", kFile, "file .. 12312 ", 6},
      {"an absolute path", kFile, "file /0001.bloom 12312 ", 6},
      {"a hidden file", kFile, "file .0001.bloom 12312 ", 6},
      {"no name", kFile, "file  12312 ", 6},
      {"the manifest itself", "file revoked", "file manifest", 8},
      {"a backslash", kFile, "file 0001\\.bloom 12312 ", 6},
      {"a layer's name that no reader can use", kFile, "file " + std::string(64, '0') + ".bloom 12312 ", 6},
      {"a name of 233 bytes", kFile, "file " + std::string(233, '0') + " 12312 ", 6},
      {"no size", kFile, "file 0001.bloom ", 6},
      {"a size with a zero in front", kFile, "file 0001.bloom 012312 ", 6},
      {"a size that wraps", kFile, "file 0001.bloom 18446744073709563928 ", 6},
      {"capital letters in a digest", "fefe", "FEfe", 7},
      {"a short digest", "fefe", "fe", 7},
      {"a long digest", "fefe", "fefefe", 7},
      {"no digest", "file revoked 0 ", "file revoked 0 \nfile s 0 ", 8},
      {"something behind a digest", "fefe\n", "fefe x\n", 7},
      {"the files in another order", kFile, "file 0003.bloom 12312 ", 7},
      {"a file twice", "file 0002.bloom", "file 0001.bloom", 7},
      {"a file behind the next key", "next-key", "next-kez", 9},
      {"a short key", "next-key P", "next-key ", 9},
      {"an unknown line", "next-key", "expires 2027\nnext-key", 9},
  }));
  CAPTURE(bad.name);
  const std::string text =
      signed_anyway(replaced(content_of(sign_manifest(some_manifest(), signing_key())), bad.what, bad.by));
  CHECK_THAT(refusal_of(text), Contains("layers/manifest, line " + std::to_string(bad.line) + ": expected "));
}

TEST_CASE("the lines of signer and signature are held to their form, too") {
  const std::string text = sign_manifest(some_manifest(), signing_key());
  const std::string content = content_of(text);
  REQUIRE(signed_anyway(content) == text);
  const std::string next = content.substr(content.find("next-key"));
  CHECK_THAT(refusal_of(signed_anyway(content + next)), Contains("line 10: "));
  CHECK_THAT(refusal_of(text + "x\n"), Contains("line 12: expected the end, got 'x'"));
  CHECK_THAT(refusal_of(text.substr(0, text.size() - 1)), Contains("line 11: ") && Contains("without its end"));
  CHECK_THAT(refusal_of(content), Contains("line 10: ") && Contains("got the end"));
  CHECK_THAT(refusal_of(""), Contains("line 1: ") && Contains("got the end"));
  // Of another key: the signature is that of the text with the first signer.
  CHECK_THAT(refusal_of(replaced(text, kSigningKeyText, other_signing_key().public_key().text())),
             Contains("line 11: ") && Contains("another signature"));
  // A point of small order, under which libsodium's own rule takes no signature.
  CHECK_THAT(refusal_of(replaced(text, kSigningKeyText, PublicKey{}.text())), Contains("another signature"));
}

TEST_CASE("a text may be large, but not larger than a manifest is") {
  Manifest manifest = some_manifest();
  manifest.files.clear();
  const auto name_of = [](unsigned i) { return std::string(229, 'a') + std::to_string(100 + i); };
  for (unsigned i = 0; i < 65; ++i) manifest.files.push_back({name_of(i), ~std::uint64_t{0} >> 1, some_digest(0xff)});
  const std::string text = sign_manifest(manifest, signing_key());
  CHECK(parse_manifest(text, "manifest").manifest == manifest);
  manifest.files.push_back({name_of(65), 1, some_digest(1)});
  CHECK_THROWS_WITH(sign_manifest(manifest, signing_key()), Contains("line 71: expected at most 65 files"));
  CHECK_THAT(refusal_of(std::string(kMostManifestBytes + 1, '\n')), Contains("has 65537 bytes"));
}

TEST_CASE("a layer's name is as long as readers can use it, and the remedy is the one for the place of the text") {
  CHECK(is_published_name(std::string(63, 'a') + ".bloom"));
  CHECK_FALSE(is_published_name(std::string(64, 'a') + ".bloom"));
  CHECK(is_published_name(std::string(kMostPublishedNameBytes, 'a')));
  CHECK_FALSE(is_published_name(std::string(kMostPublishedNameBytes + 1, 'a')));
  CHECK_THROWS_WITH(parse_manifest("x", "there", "look there"), EndsWith("; look there"));
  CHECK_THROWS_WITH(parse_manifest(std::string(kMostManifestBytes + 1, 'x'), "there", "look there"),
                    EndsWith("; look there"));
}

TEST_CASE("a manifest that readers would refuse is not signed") {
  const auto code = [](const std::function<void(Manifest&)>& change) {
    Manifest manifest = some_manifest();
    change(manifest);
    return error_code_of([&] { sign_manifest(manifest, signing_key()); });
  };
  using std::chrono::sys_seconds;
  CHECK(code([](Manifest& m) { m.list = "a b"; }) == ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { m.list = "a\nnumber 9"; }) == ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { m.number = 0; }) == ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { m.number = std::uint64_t{1} << 63; }) == ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { m.made = m.holds_until + std::chrono::seconds(1); }) == ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { m.made = sys_seconds(std::chrono::seconds(-1)); }) == ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { m.holds_until = sys_seconds(std::chrono::seconds(253'402'300'800)); }) ==
        ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { std::swap(m.files[0], m.files[1]); }) == ErrorCode::bad_input);
  CHECK(code([](Manifest& m) { m.files[0].name = "a/b"; }) == ErrorCode::bad_input);
}

TEST_CASE("times are written as they are read, to the second") {
  Manifest manifest = some_manifest();
  manifest.made = {};
  manifest.holds_until = std::chrono::sys_seconds(std::chrono::seconds(253'402'300'799));
  const std::string text = sign_manifest(manifest, signing_key());
  CHECK_THAT(text, Contains("made 1970-01-01T00:00:00Z\nholds-until 9999-12-31T23:59:59Z\n"));
  CHECK(parse_manifest(text, "manifest").manifest == manifest);
  manifest.made = std::chrono::sys_days(std::chrono::year(2028) / 2 / 29) + std::chrono::seconds(86'399);
  CHECK_THAT(sign_manifest(manifest, signing_key()), Contains("made 2028-02-29T23:59:59Z\n"));
}

TEST_CASE_METHOD(InFolder,
                 "the manifest of a folder is in it, and that of a file beside it, or beside where its link leads") {
  CHECK(manifest_path(folder.path()) == folder.file("manifest"));
  CHECK(manifest_path(folder.file("a.bloom")) == folder.file("a.bloom.manifest"));
  CHECK_FALSE(read_manifest(folder.path()));
  write_file(folder.file("a.bloom"), "a");
  fs::create_symlink("a.bloom", folder.file("link"));
  CHECK(fs::path(manifest_path(folder.file("link"))).filename() == "a.bloom.manifest");
  const std::string text = sign_manifest(some_manifest(), signing_key());
  write_file(folder.file("a.bloom.manifest"), text);
  REQUIRE(read_manifest(folder.file("link")));
  CHECK(read_manifest(folder.file("link"))->manifest == some_manifest());
  write_file(folder.file("manifest"), text + "x");
  CHECK_THROWS_WITH(read_manifest(folder.path()), Contains(folder.file("manifest") + ", line 12"));
  write_file(folder.file("manifest"), std::string(1 << 20, 'x'));
  CHECK_THROWS_WITH(read_manifest(folder.path()), Contains("at most 65536"));
  fs::remove(folder.file("manifest"));
  REQUIRE(mkfifo(folder.file("manifest").c_str(), 0600) == 0);
  CHECK(error_code_of([&] { read_manifest(folder.path()); }) == ErrorCode::not_a_regular_file);
  fs::remove(folder.file("manifest"));
  fs::create_symlink("nowhere", folder.file("manifest"));
  CHECK(error_code_of([&] { read_manifest(folder.path()); }) == ErrorCode::cannot_open);
}

TEST_CASE_METHOD(WithPath, "of a signed filter the header says all, and another filter is not the one that is named") {
  build_filter(path, {"joe@example.org"});
  REQUIRE(sign_filter(path, path, signing_key(), 1) == Signing::done);
  const PublishedFile named = describe_published(path);
  CHECK(named.name == "file");
  CHECK(named.bytes == fs::file_size(path));
  CHECK_NOTHROW(require_published(named, path));
  std::string image = read_file(path);
  image[4000] ^= 1;
  write_file(path, image);
  CHECK_THROWS_WITH(require_published(named, path),
                    Contains("is not the file that the manifest names: expected the digest"));
  CHECK(error_code_of([&] { describe_published(path); }) == ErrorCode::bad_header_checksum);
  image[4000] ^= 1;
  write_file(path, image + "x");
  CHECK_THROWS_WITH(require_published(named, path), Contains("expected " + std::to_string(named.bytes) + " bytes"));
  CHECK(error_code_of([&] { describe_published(path); }) == ErrorCode::wrong_size);
  fs::remove(path);
  CHECK(error_code_of([&] { require_published(named, path); }) == ErrorCode::cannot_open);
}

TEST_CASE_METHOD(WithPath, "of any other file every byte counts") {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{65'536}, std::size_t{200'001}}) {
    CAPTURE(size);
    std::string text(size, 'a');
    write_file(path, text);
    const PublishedFile named = describe_published(path);
    CHECK(named.bytes == size);
    CHECK_NOTHROW(require_published(named, path));
    if (size == 0) continue;
    text.back() = 'b';
    write_file(path, text);
    CHECK(error_code_of([&] { require_published(named, path); }) == ErrorCode::bad_input);
  }
}

}  // namespace
}  // namespace bloomgate::test
