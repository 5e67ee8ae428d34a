// Every malformed filter file is refused with the code that says why: tests/bad/README.md.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/file/mapped_filter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

const fs::path kBad = fs::path(source_folder()) / "tests/bad";

void load(const std::string& path) {
  MappedFilter(path).verify_body(1);
}

std::map<std::string, std::string> expected_codes() {
  std::istringstream table(read_file(kBad / "expected.tsv"));
  std::map<std::string, std::string> codes;
  for (std::string name, code; table >> name >> code;) codes[name] = code;
  return codes;
}

TEST_CASE("every file of the corpus is refused with the code that the corpus names") {
  const auto codes = expected_codes();
  CHECK(codes.size() >= 25);
  std::set<std::string> files;
  for (const auto& file : fs::directory_iterator(kBad)) {
    if (file.path().extension() == ".bloom") files.insert(file.path().filename());
  }
  for (const auto& [name, code] : codes) {
    CAPTURE(name);
    CHECK(error_code_name(error_code_of([&, file = name] { load((kBad / file).string()); })) == code);
    CHECK(files.erase(name) == 1);
  }
  CHECK(files.empty());
}

// Whether `got` is the field at that place of a header, as a number or in words.
bool is_field(const std::string& got, std::span<const std::byte> field) {
  const auto number = load_little_endian<std::uint64_t>(field.data());
  std::set<std::string> forms = {"zero", "not zero", "with it", "with one of them"};
  for (const unsigned bits : {8U, 24U, 32U, 64U}) forms.insert(std::to_string(number << (64 - bits) >> (64 - bits)));
  return forms.contains(got);
}

TEST_CASE("every message about a bad file names the file, what is wrong at which place, and what to do") {
  for (const auto& [name, code] : expected_codes()) {
    const std::string path = (kBad / name).string();
    CAPTURE(name);
    const BloomgateError error = error_of([&] { load(path); });
    const std::string what = error.what();
    const std::string content = read_file(path);
    const auto bytes = std::as_bytes(std::span(content));
    const auto& [details_path, offset, expected, got] = error.details();
    CHECK(details_path == path);
    CHECK_THAT(what, StartsWith(path));
    CHECK((what.find("build") != std::string::npos || what.find("use a file") != std::string::npos));
    if (what.starts_with(path + ": header field ")) {
      CHECK_THAT(what, Contains(" at offset " + std::to_string(*offset) + " is " + got + " instead of " + expected));
      CHECK(is_field(got, bytes.subspan(*offset, 8)));
      CHECK(got != expected);
    } else if (code == "wrong_size") {
      CHECK_THAT(what, Contains(" has " + got + " bytes instead of the " + expected));
      CHECK(got == std::to_string(bytes.size()));
      CHECK(*offset == std::min<std::uint64_t>(bytes.size(), std::stoull(expected)));
    } else if (code == "too_short") {
      CHECK((got == std::to_string(bytes.size()) && *offset == bytes.size() && expected == "4096"));
    } else if (code == "bad_magic") {
      CHECK_THAT(what, StartsWith(path + " is not a Bloomgate filter "));
      CHECK(expected == "89 42 4c 4d 0d 0a 1a 0a");
    } else if (code == "bad_header_checksum") {
      CHECK(is_field(got, bytes.subspan(*offset, 8)));
    } else if (code == "bad_table_checksum") {
      CHECK_THAT(what, Contains("the checksum table at offset " + std::to_string(*offset)));
      CHECK(got == std::to_string(checksum(bytes.subspan(*offset, 8))));
      CHECK(got != expected);
    } else if (what.find("between two sections") != std::string::npos) {
      CHECK_THAT(what, Contains("the byte at offset " + std::to_string(*offset)));
      CHECK(bytes[*offset] != std::byte{0});
    } else if (offset && code != "unsupported_version") {
      CHECK_THAT(what, Contains("in the MiB at offset " + std::to_string(*offset)));
      const std::string_view section = name.starts_with("sender-domains") ? "sender domains"
                                       : name.starts_with("domains")      ? "domain entries"
                                       : name.starts_with("excluded")     ? "excluded senders"
                                                                          : "bit array";
      const std::string_view fault = code != "bad_section"                ? " is damaged in"
                                     : name.starts_with("sender-domains") ? " is not as the format has it in"
                                                                          : " is not in ascending order in";
      CHECK_THAT(what, Contains(std::string(section).append(fault)));
    }
  }
}

TEST_CASE_METHOD(InFolder, "a path that is not a regular file is refused at once") {
  REQUIRE(mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  CHECK(error_code_of([&] { load(folder.file("fifo")); }) == ErrorCode::not_a_regular_file);
  CHECK(error_code_of([&] { load(folder.path().string()); }) == ErrorCode::not_a_regular_file);
  CHECK(error_code_of([&] { load("/dev/null"); }) == ErrorCode::not_a_regular_file);
  CHECK(error_code_of([&] { load(folder.file("missing")); }) == ErrorCode::cannot_open);
  CHECK(error_code_of([&] { load(""); }) == ErrorCode::cannot_open);
}

TEST_CASE_METHOD(WithPath, "a file that may not be read is refused with the system's reason") {
  build_filter(path, {"joe@example.org"});
  fs::create_symlink(path + "/below", folder.path() / "link");
  CHECK(error_code_of([&] { load(folder.file("link")); }) == ErrorCode::cannot_open);
  if (geteuid() == 0) return;  // root reads everything
  REQUIRE(chmod(path.c_str(), 0) == 0);
  CHECK(error_code_of([&] { load(path); }) == ErrorCode::cannot_open);
}

}  // namespace
}  // namespace bloomgate::test
