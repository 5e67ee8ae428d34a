#include "filter/base/little_endian.hpp"
#include "filter/file/mapped_filter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

TEST_CASE_METHOD(test::WithPath, "a filter's fingerprint is the checksum of its header, in sixteen digits") {
  // One in sixteen begins with a zero.
  bool has_leading_zero = false;
  for (std::uint64_t seed = 0; seed < 1000 && !has_leading_zero; ++seed) {
    test::build_filter(path, {"joe@example.org"}, {.seed = seed});
    const std::string text = fingerprint_of(MappedFilter(path));
    REQUIRE(text.size() == 16);
    const std::string file = test::read_file(path);
    const auto* const end = reinterpret_cast<const std::byte*>(file.data() + kHeaderBytes - 8);
    CHECK(std::stoull(text, nullptr, 16) == load_little_endian<std::uint64_t>(end));
    has_leading_zero = text.front() == '0';
  }
  CHECK(has_leading_zero);
}

}  // namespace
}  // namespace bloomgate
