// Probes of filters whose bits are all set, or none of them: what they find does not depend on chance.
#include "milter/monitoring/rate_probes.hpp"

#include "tests/milter/glue/daemon_parts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/full_filter.hpp"

namespace bloomgate::test {
namespace {

std::shared_ptr<const LoadedLists> lists_of(std::vector<NamedFilter> filters) {
  return std::make_shared<const LoadedLists>(ListParts{.whitelists = std::move(filters)});
}

// No address is in its bits.
std::shared_ptr<const LoadedFilter> empty_filter() {
  return WhitelistFile({"@corp.example"}).load();
}

std::shared_ptr<const LoadedFilter> full_filter() {
  const TemporaryFolder folder;
  build_full_filter(folder.file("full.bloom"));
  return std::make_shared<const LoadedFilter>(folder.file("full.bloom"), false, FilterCheck::header);
}

TEST_CASE("each probe of a full filter is a hit, and none of an empty one; a missing whitelist is not probed") {
  const auto full = full_filter(), empty = empty_filter();
  const auto lists = lists_of({{"full", full}, {"missing", nullptr}, {"empty", empty}});
  RateProbes probes;
  CHECK(probes.of(*full).probes == 0);
  for (int i = 0; i < 50; ++i) probes.probe(*lists);
  CHECK(probes.of(*full).probes == 50);
  CHECK(probes.of(*full).hits == 50);
  CHECK(probes.of(*empty).probes == 50);
  CHECK(probes.of(*empty).hits == 0);
}

TEST_CASE("the counts of a whitelist start over when it is loaded again, and the others continue") {
  const auto stays = full_filter();
  RateProbes probes;
  probes.probe(*lists_of({{"stays", stays}, {"goes", full_filter()}}));
  const auto other = full_filter();
  const auto after = lists_of({{"goes", other}, {"stays", stays}});
  CHECK(probes.of(*other).probes == 0);
  probes.probe(*after);
  CHECK(probes.of(*other).probes == 1);
  CHECK(probes.of(*stays).probes == 2);
  CHECK(probes.of(*stays).hits == 2);
}

TEST_CASE("probes do not keep a filter in memory that is no longer in use") {
  auto goes = full_filter();
  const std::weak_ptr<const LoadedFilter> watched = goes;
  RateProbes probes;
  probes.probe(*lists_of({{"goes", goes}}));
  goes.reset();
  CHECK(watched.expired());
}

TEST_CASE("a damaged filter is not probed any more, and keeps its counts") {
  const auto filter = full_filter();
  const auto lists = lists_of({{"w", filter}});
  RateProbes probes;
  probes.probe(*lists);
  filter->note_damage(Damage::spoiled);
  probes.probe(*lists);
  CHECK(probes.of(*filter).probes == 1);
  CHECK(probes.of(*filter).hits == 1);
}

TEST_CASE("probes do not ask a store, and the bits have a rate of their own") {
  const PairFiles pair(numbered_addresses(0, 4096));
  const auto filter = pair.load();
  CHECK(filter->false_positive_rate() < 1e-9);
  CHECK(expected_rate_of_bits(*filter) == Approx(0.0216).epsilon(0.1));
  RateProbes probes;
  for (int i = 0; i < 200; ++i) probes.probe(*lists_of({{"pair", filter}}));
  CHECK(probes.of(*filter).probes == 200);
  CHECK(probes.of(*filter).hits < 100);  // with the expected rate, once in more than 10^100 runs
  CHECK_FALSE(filter->store_had(Confirmation::no));
}

}  // namespace
}  // namespace bloomgate::test
