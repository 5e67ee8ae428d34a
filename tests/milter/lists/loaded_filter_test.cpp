#include "milter/lists/loaded_filter.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/milter/daemon_parts.hpp"
#include "tests/support/locked_memory.hpp"

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

TEST_CASE("the rate that a whitelist is described with is in percent") {
  const test::WhitelistFile file(test::numbered_addresses(0, 10'000));
  const LoadedFilter loaded(file.path(), false);
  const std::string text = loaded.description();
  std::smatch rate;
  REQUIRE(std::regex_search(text, rate, std::regex("rate ([0-9.]+) %")));
  CHECK(std::stod(rate[1]) == Approx(100 * loaded.false_positive_rate()).epsilon(0.01));
}

TEST_CASE("a whitelist knows when it was loaded") {
  const test::WhitelistFile file({"joe@example.org"});
  const auto before = std::chrono::system_clock::now();
  const LoadedFilter loaded(file.path(), false);
  CHECK(loaded.loaded_at() >= before);
  CHECK(loaded.loaded_at() <= std::chrono::system_clock::now());
}

TEST_CASE("a whitelist is locked in memory where that is asked for, and only there") {
  const test::WhitelistFile file({"joe@example.org"});
  const std::string before = test::locked_memory();
  {
    const LoadedFilter loaded(file.path(), false);
    CHECK(test::locked_memory() == before);
  }
  const LoadedFilter locked(file.path(), true);
  CHECK((test::locked_memory() != before) == test::kCanLockMemory);
}

TEST_CASE("a whitelist is in place until its path leads to another file, or to none") {
  const test::WhitelistFile file({"joe@example.org"});
  const LoadedFilter loaded(file.path(), false);
  CHECK(loaded.is_in_place());
  file.replace({"ann@example.org"});
  CHECK_FALSE(loaded.is_in_place());
  std::filesystem::remove(file.path());
  CHECK_FALSE(loaded.is_in_place());
}

TEST_CASE("the first damage that is found is the one that stays") {
  const test::WhitelistFile file({"joe@example.org"});
  const LoadedFilter loaded(file.path(), false);
  CHECK(damage_text(loaded.damage()).empty());
  loaded.note_damage(Damage::spoiled);
  loaded.note_damage(Damage::written_to);
  CHECK(loaded.damage() == Damage::spoiled);
  CHECK(damage_text(loaded.damage()) == "is not what it was when it was loaded");
}

TEST_CASE("a write in place is damage from then on, even where the file's time is put back") {
  const test::WhitelistFile file({"joe@example.org"});
  test::make_old(file.path());
  const auto written = std::filesystem::last_write_time(file.path());
  const LoadedFilter loaded(file.path(), false);
  std::filesystem::last_write_time(file.path(), written + std::chrono::seconds(1));
  CHECK(loaded.damage() == Damage::written_to);
  std::filesystem::last_write_time(file.path(), written);
  CHECK(loaded.damage() == Damage::written_to);
  CHECK(damage_text(loaded.damage()) == "was changed in place while it was in use");
}

TEST_CASE("a look-up in a part of the file that is gone leaves the whitelist unreadable") {
  install_bus_fault_handler();
  const test::WhitelistFile file({"joe@example.org"});
  const LoadedFilter loaded(file.path(), false);
  file.truncate();
  CHECK_FALSE(loaded.file().chunk_is_sound(0));
  CHECK(loaded.damage() == Damage::unreadable);
  CHECK(damage_text(loaded.damage()) == "can no longer be read in full");
}

TEST_CASE("damage is reported by one only") {
  const test::WhitelistFile file({"joe@example.org"});
  const LoadedFilter loaded(file.path(), false);
  CHECK(loaded.first_to_report_damage());
  CHECK_FALSE(loaded.first_to_report_damage());
}

}  // namespace
}  // namespace bloomgate
