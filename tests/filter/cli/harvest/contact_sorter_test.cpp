#include "filter/cli/harvest/contact_sorter.hpp"

#include <map>
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::cli {
namespace {

using Pairs = std::map<std::pair<std::string, std::string>, std::uint64_t>;

TEST_CASE_METHOD(test::InFolder, "pairs are sorted, each once with its count, from memory and from disk") {
  const std::uint64_t memory_bytes = GENERATE(1U, 2'000U, 800'000U, 100'000'000U);
  CAPTURE(memory_bytes);
  ContactSorter sorter(memory_bytes, folder.path());
  Pairs want;
  std::minstd_rand random(1);
  const int count = memory_bytes == 1 ? 200 : 20'000;
  for (int i = 0; i < count; ++i) {
    const std::string contact = "contact" + std::to_string(random() % 500) + "@example.org";
    const std::string user = "user" + std::to_string(random() % 9) + "@ours.example";
    sorter.add(contact, user);
    ++want[{contact, user}];
  }
  // One contact is the beginning of another.
  sorter.add("joe@example.com", "ann@ours.example");
  sorter.add("joe@example.co", "zoe@ours.example");
  ++want[{"joe@example.com", "ann@ours.example"}];
  ++want[{"joe@example.co", "zoe@ours.example"}];

  std::vector<Pairs::value_type> found;
  sorter.for_each([&](std::string_view contact, std::string_view user, std::uint64_t times) {
    found.push_back({{std::string(contact), std::string(user)}, times});
  });
  CHECK((sorter.spilled_bytes() != 0) == (memory_bytes < 800'000));
  const std::vector<Pairs::value_type> wanted(want.begin(), want.end());
  CHECK((found == wanted));
}

TEST_CASE("an error names the folder that has no room for what exceeds memory") {
  ContactSorter sorter(1, "/nowhere");
  sorter.add("joe@example.org", "ann@ours.example");
  CHECK_THROWS_WITH(sorter.add("bob@example.org", "ann@ours.example"), Catch::Contains("/nowhere"));
}

}  // namespace
}  // namespace bloomgate::cli
