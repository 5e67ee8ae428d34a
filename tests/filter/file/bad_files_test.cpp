// Every malformed filter file is refused with the code that says why: tests/bad/README.md.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "filter/base/error.hpp"
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

TEST_CASE("every message about a bad file names the file and what to do") {
  for (const auto& [name, code] : expected_codes()) {
    const std::string path = (kBad / name).string();
    CAPTURE(name);
    const BloomgateError error = error_of([&] { load(path); });
    const std::string what = error.what();
    CHECK(what.find(name) != std::string::npos);
    CHECK((what.find("build") != std::string::npos || what.find("use a file") != std::string::npos));
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
