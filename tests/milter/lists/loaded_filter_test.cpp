#include "milter/lists/loaded_filter.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/milter/daemon_parts.hpp"

namespace bloomgate {
namespace {

TEST_CASE("a loaded whitelist says what it is") {
  const test::WhitelistFile file(test::numbered_addresses(0, 10'000));
  const LoadedFilter loaded(file.path(), false);
  CHECK_THAT(loaded.description(),
             Catch::StartsWith(file.path() + ": 10000 entries, 98304 bits, expected false-positive rate "));
  CHECK_THAT(loaded.description(), Catch::Matches(".* rate [0-9.]+ % per look-up"));
  CHECK_FALSE(loaded.damaged());
}

TEST_CASE("a whitelist with one bad bit in its body is not loaded") {
  const test::WhitelistFile file({"joe@example.org"});
  {
    std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(kHeaderBytes) + 100);
    stream.put('\x01');
  }
  CHECK(test::error_code_of([&] { LoadedFilter(file.path(), false); }) == ErrorCode::bad_body_checksum);
}

TEST_CASE("damage is reported by one only") {
  const test::WhitelistFile file({"joe@example.org"});
  const LoadedFilter loaded(file.path(), false);
  CHECK(loaded.first_to_report_damage());
  CHECK_FALSE(loaded.first_to_report_damage());
}

}  // namespace
}  // namespace bloomgate
