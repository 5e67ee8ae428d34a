#include "filter/keep/sign_filter.hpp"

#include <filesystem>

#include "filter/file/mapped_filter.hpp"
#include "filter/system/file_stamp.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_keys.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(WithPath, "a filter is signed where it is, once for each key, or in a copy that leaves it as it is") {
  const auto signer_of = [](const std::string& file) { return MappedFilter(file).signature()->signer; };
  build_filter(path, numbered_addresses(0, 1000));
  std::uint64_t bytes = 0;
  const auto count = [&](std::uint64_t checked) { bytes += checked; };
  CHECK(sign_filter(path, path, signing_key(), 2, count) == Signing::done);
  CHECK(bytes > 0);
  CHECK(signer_of(path) == signing_key().public_key());
  CHECK_NOTHROW(MappedFilter(path).verify_body(1, {}, {{signing_key().public_key()}}));
  CHECK(MappedFilter(path).view().may_contain("user999@example.org"));
  const auto before = FileStamp::of_path(path);
  CHECK(sign_filter(path, path, signing_key(), 1) == Signing::was_there);
  CHECK(FileStamp::of_path(path) == before);
  const std::string copy = folder.file("copy");
  CHECK(sign_filter(path, copy, signing_key(), 1) == Signing::done);
  CHECK(read_file(copy) == read_file(path));
  CHECK(sign_filter(path, copy, other_signing_key(), 1) == Signing::done);
  CHECK(signer_of(copy) == other_signing_key().public_key());
  CHECK(FileStamp::of_path(path) == before);
  CHECK(sign_filter(path, path, other_signing_key(), 1) == Signing::done);
  CHECK(signer_of(path) == other_signing_key().public_key());
}

TEST_CASE_METHOD(WithPath, "a damaged filter is not signed, whether it is signed already or not") {
  for (const bool is_signed : {false, true}) {
    build_filter(path, {"joe@example.org"});
    if (is_signed) sign_filter(path, path, signing_key(), 1);
    flip_byte(path, kHeaderBytes + 100);
    const std::string before = read_file(path);
    for (const std::string& output : {path, folder.file("copy")}) {
      CHECK_THROWS_AS(sign_filter(path, output, signing_key(), 1), BloomgateError);
    }
    CHECK(read_file(path) == before);
    CHECK_FALSE(std::filesystem::exists(folder.file("copy")));
  }
}

}  // namespace
}  // namespace bloomgate::test
