// The section of the sender domains, written with an estimate of their number.
#include "filter/gather/sender_domains_section.hpp"

#include <cstdint>
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

}  // namespace
}  // namespace bloomgate::test
