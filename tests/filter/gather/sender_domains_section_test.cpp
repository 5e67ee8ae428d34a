// The section of the sender domains, written with an estimate of their number.
#include "filter/gather/sender_domains_section.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filter/file/mapped_filter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE("a wrong estimate of the number of sender domains does not change the bytes of the file") {
  const auto domains = GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, std::uint64_t{1024});
  const TemporaryFolder folder;
  BuildOptions options = {.seed = 7, .sender_domains = true};
  std::vector<std::string> lines;
  for (std::uint64_t i = 0; i < domains; ++i) lines.push_back("joe@d" + std::to_string(i) + ".example");
  build_filter(folder.file("want"), lines, options);
  const MappedFilter want(folder.file("want"));
  REQUIRE(want.header().sender_domains == domains);

  const StoreShape shape = {.hash_family = options.hash_family, .seed = options.seed};
  for (const std::uint64_t estimate : {0U, 1U, 511U, 512U, 513U, 1000U, 1023U, 1024U, 1025U, 1'000'000U}) {
    CAPTURE(domains, estimate);
    GatheredDomains gathered(shape, 1, 1 << 20, folder.path());
    for (const std::string& line : lines) gathered.lane(0).add(std::string_view(line).substr(3));
    gathered.lane(0).settle();
    FilterHeader header = want.header();
    header.sender_domains = 0;
    FilterWriter writer(folder.file("got"), header);
    writer.write(SectionKind::bits, 0, want.view().body());
    header.sender_domains = estimate;
    write_estimated_sender_domains(writer, header, gathered, 1, kNeverStop);
    CHECK(header == want.header());
    writer.commit(header);
    CHECK((read_file(folder.file("got")) == read_file(folder.file("want"))));
  }
}

TEST_CASE_METHOD(InFolder, "of two hashes with one number a store has both, and the section has one") {
  constexpr KeyHash kHash = 0x1234'5678'9abc'def0;
  const std::vector<KeyHash> hashes = {kHash, kHash + 1, kHash + 16};
  REQUIRE(domain_number(hashes[0]) == domain_number(hashes[1]));
  GatheredDomains gathered({}, 1, 1 << 20, folder.path());
  gathered.lane(0).add_stored(hashes);
  gathered.lane(0).settle();
  const GatheredDomains::Counts counts = gathered.unite(1);
  CHECK(counts.hashes == 3);
  CHECK(counts.numbers == 2);

  FilterBuilder builder({.seed = 7, .store_path = folder.file("store"), .store_seed = 3, .sender_domains = true});
  builder.lane(0).add_stored_sender_domains(hashes);
  CHECK(builder.write(folder.file("filter"), kNeverStop).sender_domains == 2);
  const StoreFile store(folder.file("store"));
  CHECK(store.header().sender_domains == 3);
  CHECK_NOTHROW(require_sender_domains_of(store, MappedFilter(folder.file("filter"))));
}

TEST_CASE("a filter has at most 2^48 sender domains") {
  CHECK_NOTHROW(require_possible_number(std::uint64_t{1} << 48));
  CHECK(error_code_of([] { require_possible_number((std::uint64_t{1} << 48) + 1); }) == ErrorCode::size_overflow);
}

TEST_CASE("a stop ends the reading of domains before the next run, or behind the last") {
  const std::vector<DomainNumber> domains = {1, 2};
  const ForEachDomain each = [&](const auto& use) {
    for (const DomainNumber& domain : domains) use({&domain, 1});
  };
  for (const std::size_t stops_at : {0U, 1U, 2U, 3U}) {
    CAPTURE(stops_at);
    std::atomic<bool> stop{stops_at == 0};
    std::vector<DomainNumber> seen;
    const auto use = [&](std::span<const DomainNumber> run) {
      seen.insert(seen.end(), run.begin(), run.end());
      stop = seen.size() == stops_at;
    };
    const auto read = [&] { until_stopped(each, stop)(use); };
    if (stops_at > domains.size()) {
      CHECK_NOTHROW(read());
    } else {
      CHECK(error_code_of(read) == ErrorCode::interrupted);
    }
    CHECK(seen.size() == std::min(stops_at, domains.size()));
  }
}

}  // namespace
}  // namespace bloomgate::test
