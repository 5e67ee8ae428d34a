// The C interface, and filters that keep the domains of their senders.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/filter/library/library_calls.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(Library, "an address at a domain without an entry is not listed, even if its bits are set by chance") {
  const auto members = numbered_addresses(0, 2'000);  // of example.org
  std::vector<std::string> elsewhere;
  std::string fixed;
  std::vector<const char*> pointers;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 2'000; ++i) elsewhere.push_back("u" + std::to_string(10'000 + i) + "@stranger.example");
  for (const std::string& text : elsewhere) {
    fixed += text;
    pointers.push_back(text.data());
    sizes.push_back(text.size());
  }
  const auto neighbours = numbered_addresses(2'000, 2'000);
  const std::size_t count = elsewhere.size();
  const auto listed = [&](const auto& answers) { return std::ranges::count_if(answers, bloomgate_is_listed); };
  for (const bool with_domains : {true, false}) {
    CAPTURE(with_domains);
    auto lines = members;
    lines.push_back("friend@pairs.example > ann@ours.example");
    const Filter filter = built(lines, {.hashes = 1, .seed = 42, .sender_domains = with_domains});
    CHECK(number(filter, BLOOMGATE_SENDER_DOMAINS) == (with_domains ? 2 : 0));
    // 2,001 of the 32,768 bits of a block are set: 122 of 2,000 strangers within six standard deviations, or none.
    const std::int64_t least = with_domains ? 0 : 58;
    const std::int64_t most = with_domains ? 0 : 186;
    std::vector<std::uint8_t> answers;
    const auto check = [&] {
      CHECK(listed(answers) >= least);
      CHECK(listed(answers) <= most);
      answers.assign(count, 255);
    };
    for (const std::string& text : elsewhere) answers.push_back(look_up(filter, text));
    check();
    for (std::size_t i = 0; i < count; ++i) answers[i] = look_up_entry(filter, elsewhere[i]);
    check();
    REQUIRE(bloomgate_look_up_many(filter.get(), pointers.data(), sizes.data(), count, answers.data()) == BLOOMGATE_OK);
    check();
    const Texts<std::int64_t> column(elsewhere);
    REQUIRE(bloomgate_look_up_column64(filter.get(), column.data.data(), column.data.size(), column.offsets.data(),
                                       count, answers.data()) == BLOOMGATE_OK);
    check();
    REQUIRE(bloomgate_look_up_fixed(filter.get(), fixed.data(), sizes.front(), count, answers.data()) == BLOOMGATE_OK);
    check();
    // With a recipient: by itself, or as a pair, of which the bits hold one.
    std::int64_t by_pair = 0;
    for (std::size_t i = 0; i < count; ++i) {
      answers[i] = look_up_pair(filter, elsewhere[i], "ann@ours.example");
      by_pair += answers[i] == BLOOMGATE_BY_PAIR ? 1 : 0;
    }
    CHECK((listed(answers) == 0) == with_domains);
    CHECK((by_pair == 0) == with_domains);
    CHECK(look_up_pair(filter, "friend@pairs.example", "ann@ours.example") == BLOOMGATE_BY_PAIR);

    std::int64_t found = 0;
    for (const std::string& member : members) found += bloomgate_is_listed(look_up(filter, member));
    CHECK(found == static_cast<std::int64_t>(members.size()));
    // Neighbours are found in either filter, as the rate says.
    std::int64_t by_chance = 0;
    for (const std::string& neighbour : neighbours) by_chance += bloomgate_is_listed(look_up(filter, neighbour));
    const double expected = bloomgate_expected_rate(filter.get()) * static_cast<double>(neighbours.size());
    CHECK(static_cast<double>(by_chance) == Approx(expected).margin(64));  // six standard deviations
  }
}

}  // namespace
}  // namespace bloomgate::test
