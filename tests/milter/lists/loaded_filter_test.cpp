#include "milter/lists/loaded_filter.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/locked_memory.hpp"

namespace bloomgate::test {
namespace {

struct OneFile {
  const WhitelistFile file{{"joe@example.org"}};
};
struct Loaded : OneFile {
  const LoadedFilter loaded{file.path(), false};
};
struct LoadedPair {
  const PairFiles files{{"joe@example.org"}};
  const std::shared_ptr<const LoadedFilter> loaded = files.load();
};

TEST_CASE("a loaded whitelist reports its properties") {
  const WhitelistFile file(numbered_addresses(0, 10'000));
  const LoadedFilter loaded(file.path(), false);
  CHECK_THAT(loaded.description(),
             StartsWith(file.path() + ": 10000 entries, 98304 bits, expected false-positive rate "));
  CHECK_THAT(loaded.description(), Matches(".* rate [0-9.]+ % per look-up"));
  CHECK_FALSE(loaded.damaged());
}

TEST_CASE("a whitelist with pairs reports them, and lists no sender for all recipients by them") {
  const WhitelistFile file(
      {"ann@example.net", "joe@example.org > ann@ours.example", "@example.com > ann@ours.example"});
  const LoadedFilter loaded(file.path(), false);
  CHECK_THAT(loaded.description(), Contains(": 3 entries, with pairs, 32768 bits, "));
  const auto is_listed = [&](std::string_view sender) {
    return loaded.view().find(canonicalize_path(sender)).is_listed();
  };
  CHECK(is_listed("ann@example.net"));
  CHECK_FALSE(is_listed("joe@example.org"));
  CHECK_FALSE(is_listed("ann@ours.example"));
  CHECK_FALSE(is_listed("jim@example.com"));
}

TEST_CASE("each kind of damage has its own words") {
  std::set<std::string_view> texts;
  for (const Damage damage :
       {Damage::none, Damage::unreadable, Damage::written_to, Damage::spoiled, Damage::store_written_to}) {
    CHECK(damage_text(damage).empty() == (damage == Damage::none));
    texts.insert(damage_text(damage));
  }
  CHECK(texts.size() == 5);
}

TEST_CASE_METHOD(InFolder, "a whitelist of counters is not loaded, and the message says what to do") {
  build_filter(folder.file("counting"), {"joe@example.org"}, {.layout = Layout::counting, .seed = 1});
  CHECK(error_code_of([&] { LoadedFilter(folder.file("counting"), false); }) == ErrorCode::unsupported_layout);
  CHECK_THROWS_WITH(LoadedFilter(folder.file("counting"), false),
                    Contains("'bloomgate counting-export " + folder.file("counting") + " --output FILTER'"));
}

TEST_CASE_METHOD(OneFile, "a whitelist with one bad bit in its body is not loaded") {
  {
    std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(kHeaderBytes) + 100);
    stream.put('\x01');
  }
  CHECK(error_code_of([&] { LoadedFilter(file.path(), false); }) == ErrorCode::bad_body_checksum);
  // Whoever asks for the header only does not wait for the body, and does not hear of it.
  CHECK_NOTHROW(LoadedFilter(file.path(), false, FilterCheck::header));
}

TEST_CASE("the rate that a whitelist is described with is in percent") {
  const WhitelistFile file(numbered_addresses(0, 10'000));
  const LoadedFilter loaded(file.path(), false);
  const std::string text = loaded.description();
  std::smatch rate;
  REQUIRE(std::regex_search(text, rate, std::regex("rate ([0-9.]+) %")));
  CHECK(std::stod(rate[1]) == Approx(100 * loaded.false_positive_rate()).epsilon(0.01));
}

TEST_CASE_METHOD(OneFile, "a whitelist stores the time of its load") {
  const auto before = std::chrono::system_clock::now();
  const LoadedFilter loaded(file.path(), false);
  CHECK(loaded.loaded_at() >= before);
  CHECK(loaded.loaded_at() <= std::chrono::system_clock::now());
}

TEST_CASE_METHOD(OneFile, "a whitelist is locked in memory if that is configured, and only then") {
  const std::string before = locked_memory();
  {
    const LoadedFilter loaded(file.path(), false);
    CHECK(locked_memory() == before);
  }
  if (lock_is_refused()) return;
  const LoadedFilter locked(file.path(), true);
  CHECK((locked_memory() != before) == kCanLockMemory);
}

TEST_CASE_METHOD(Loaded, "a whitelist counts as in place until its path leads to another file, or to none") {
  CHECK(loaded.is_used(file.path()));
  file.replace({"ann@example.org"});
  CHECK_FALSE(loaded.is_used(file.path()));
  std::filesystem::remove(file.path());
  CHECK_FALSE(loaded.is_used(file.path()));
}

TEST_CASE_METHOD(Loaded, "the first damage that is found is the one that is reported") {
  CHECK(damage_text(loaded.damage()).empty());
  loaded.note_damage(Damage::spoiled);
  loaded.note_damage(Damage::written_to);
  CHECK(loaded.damage() == Damage::spoiled);
  CHECK(damage_text(loaded.damage()) == "is not what it was when it was loaded");
}

TEST_CASE_METHOD(OneFile, "a write in place is damage, even if the file's time is reset afterwards") {
  make_old(file.path());
  const auto written = std::filesystem::last_write_time(file.path());
  const LoadedFilter loaded(file.path(), false);
  std::filesystem::last_write_time(file.path(), written + std::chrono::seconds(1));
  CHECK(loaded.damage() == Damage::written_to);
  std::filesystem::last_write_time(file.path(), written);
  CHECK(loaded.damage() == Damage::written_to);
  CHECK(damage_text(loaded.damage()) == "was changed in place while it was in use");
}

TEST_CASE("a look-up in a truncated part of the file makes the whitelist unreadable") {
  install_bus_fault_handler();
  const WhitelistFile file({"joe@example.org"});
  const LoadedFilter loaded(file.path(), false);
  file.truncate();
  CHECK_FALSE(loaded.file().chunk_is_sound(0));
  CHECK(loaded.damage() == Damage::unreadable);
  CHECK(damage_text(loaded.damage()) == "can no longer be read in full");
}

TEST_CASE_METHOD(Loaded, "damage is reported only once") {
  CHECK(loaded.first_to_report_damage());
  CHECK_FALSE(loaded.first_to_report_damage());
}

// The store's answer on that address; whoever asks is in no hurry.
Confirmation confirmation_of(const LoadedFilter& loaded, std::string_view address) {
  return loaded.confirm(loaded.question_about(address)->hash, StoreReaders::Clock::now() + std::chrono::seconds(60),
                        {});
}

TEST_CASE("a whitelist with its store distinguishes listed senders from false positives") {
  const PairFiles files(numbered_addresses(0, 10'000));
  const auto loaded = files.load();
  const std::string stranger = false_positive_of(*loaded);
  CHECK(loaded->view().may_contain("user7@example.org"));
  CHECK(loaded->question_about(stranger)->store == loaded->header().store_identity);
  CHECK(confirmation_of(*loaded, "user7@example.org") == Confirmation::yes);
  CHECK(confirmation_of(*loaded, stranger) == Confirmation::no);
  CHECK_FALSE(loaded->damaged());
}

TEST_CASE("a whitelist with its store reports it, and that its rate cannot be measured") {
  const PairFiles files(numbered_addresses(0, 10'000));
  const auto loaded = files.load();
  CHECK(loaded->description() == files.path() + ": 10000 entries, 98304 bits, confirmed by " + files.store_path() +
                                     ", expected false-positive rate below 1 in 10^9 per look-up");
  CHECK(loaded->false_positive_rate() == Approx(10'000 * std::pow(2.0, -64)));
  CHECK(rate_text(1e-9, true) == "1 in 1,000,000,000");
  CHECK(rate_text(0.9e-9, true) == "below 1 in 10^9");
  CHECK(rate_text(0.9e-9, false) == "1 in 1,100,000,000");
  CHECK(rate_text(0.0216, true) == "2.16 %");
}

TEST_CASE("a whitelist without a store asks none") {
  const PairFiles files({"joe@example.org"});
  const LoadedFilter alone(files.path(), false);
  CHECK_FALSE(alone.question_about("joe@example.org"));
  CHECK(alone.store() == nullptr);
}

TEST_CASE("a filter and a store that do not belong together are refused with the remedy") {
  const PairFiles files({"joe@example.org"});
  const PairFiles others({"joe@example.org"});
  const auto load = [&](const std::string& filter, const std::string& store) {
    LoadedFilter(filter, false, FilterCheck::header, store);
  };
  CHECK(error_code_of([&] { load(files.path(), others.store_path()); }) == ErrorCode::bad_input);
  CHECK_THROWS_WITH(load(files.path(), others.store_path()), Contains("copy both files of one build"));
  const WhitelistFile without({"joe@example.org"});
  CHECK_THROWS_WITH(load(without.path(), files.store_path()), Contains("bloomgate build --store"));
}

TEST_CASE("a damaged page confirms nothing, and other pages still answer") {
  const PairFiles files(numbered_addresses(0, 10'000));
  flip_byte(files.store_path(), kHeaderBytes + 100);
  make_old(files.store_path());
  const auto loaded = files.load();
  std::map<Confirmation, int> counts;
  for (int i = 0; i < 10'000; ++i) ++counts[confirmation_of(*loaded, "user" + std::to_string(i) + "@example.org")];
  CHECK(counts[Confirmation::damaged] > 500);
  CHECK(counts[Confirmation::yes] > 5'000);
  CHECK(counts[Confirmation::yes] + counts[Confirmation::damaged] == 10'000);
  CHECK_FALSE(loaded->damaged());
}

TEST_CASE_METHOD(LoadedPair, "a store that is written to in place confirms nothing, and its whitelist is damaged") {
  write_file(files.store_path(), read_file(files.store_path()));
  CHECK(confirmation_of(*loaded, "joe@example.org") == Confirmation::damaged);
  CHECK(loaded->damage() == Damage::store_written_to);
}

TEST_CASE_METHOD(LoadedPair, "a store that is replaced or removed continues to confirm while it is open") {
  CHECK(loaded->is_used(files.path()));
  CHECK(loaded->is_used(files.store_path()));
  files.replace({"ann@example.org"});
  CHECK_FALSE(loaded->is_used(files.path()));
  CHECK_FALSE(loaded->is_used(files.store_path()));
  CHECK(confirmation_of(*loaded, "joe@example.org") == Confirmation::yes);
  std::filesystem::remove(files.store_path());
  CHECK(confirmation_of(*loaded, "joe@example.org") == Confirmation::yes);
  CHECK_FALSE(loaded->damaged());
}

}  // namespace
}  // namespace bloomgate::test
