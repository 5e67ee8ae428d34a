// A domain entry must open no side door: whoever is not listed passes by the one look-up in the bits, or not at all,
// however many labels the domain of the sender has.
#include <cmath>
#include <random>
#include <string>

#include "filter/layout/sizing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/insert_keys.hpp"
#include "tests/support/memory_filter.hpp"
#include "tests/support/sanitized.hpp"

namespace bloomgate::test {
namespace {

std::string random_label(std::mt19937_64& random, std::size_t size) {
  std::string label;
  while (label.size() < size) label += static_cast<char>('a' + random() % 26);
  return label;
}

// Of so many labels, under .test, as long as an address leaves room for.
std::string random_domain(std::mt19937_64& random, unsigned labels) {
  std::string domain = "test";
  for (unsigned i = 1; i < labels; ++i) domain = random_label(random, labels < 20 ? 8 : 1) + "." + domain;
  return domain;
}

TEST_CASE("with domain entries, senders of 1 to 124 labels have the false-positive rate of one look-up",
          "[no threads]") {
  constexpr std::uint64_t kMembers = 16'384;
  constexpr unsigned kMostLabels = 124;                    // with `x@` and .test 252 octets, of the 254 of an address
  constexpr unsigned kSenders = kIsSanitized ? 100 : 400;  // of each number of labels
  const Layout layout = GENERATE(from_range(std::begin(kLayoutsOfBits), std::end(kLayoutsOfBits)));
  CAPTURE(layout_rules(layout).name());
  FilterShape shape = {.layout = layout, .hashes = 2, .seed = 5};
  shape.block_bytes = layout_rules(layout).default_block_bytes(shape.hashes);
  shape.block_count = blocks_for(kMembers, 2, shape.block_bytes);
  MemoryFilter filter(shape);
  for (std::uint64_t i = 0; i < kMembers; ++i) filter.insert("user" + std::to_string(i) + "@example.org");
  for (int i = 0; i < 1000; ++i) filter.insert("@." + std::to_string(i) + ".partner.example");
  filter.insert("@supplier.example");
  const FilterView view = filter.view();
  const double one_look_up = fpr_from_fill(view.count_ones(), shape);
  REQUIRE(one_look_up > 0.3);

  std::mt19937_64 random(1);
  double listed = 0;
  unsigned by_domain = 0;
  for (unsigned labels = 1; labels <= kMostLabels; ++labels) {
    double listed_here = 0;
    for (unsigned i = 0; i < kSenders; ++i) {
      const Entry sender = canonicalize_path("x@" + random_domain(random, labels));
      REQUIRE(sender.kind() == EntryKind::address);
      const FoundEntry found = view.find(sender);
      listed_here += found.match == Match::address ? 1 : 0;
      by_domain += found.match == Match::domain || found.match == Match::domain_tree ? 1U : 0U;
    }
    CAPTURE(labels);
    // The senders with one label are one and the same.
    if (labels > 1) CHECK(std::abs(listed_here / kSenders - one_look_up) < 5.5 * std::sqrt(0.25 / kSenders));
    if (labels > 1) listed += listed_here;
  }
  CHECK(by_domain == 0);
  const double senders = kSenders * (kMostLabels - 1);
  // Blocks of a line differ in their fill, which the members show to a part in twenty.
  CHECK(listed / senders == Approx(one_look_up).epsilon(0.05));
}

TEST_CASE("the longest domains of an entry are looked up at each of their labels") {
  const std::string domain = [] {
    std::string text = "test";
    while (text.size() + 2 <= 254) text = "a." + text;
    return text;
  }();
  MemoryFilter filter({.block_count = 1});
  filter.insert("@.a.test");
  CHECK(filter.view().find_by_domain("@" + domain).match == Match::domain_tree);
  CHECK(filter.view().find_by_domain("@" + domain).domain == "a.test");
  CHECK_FALSE(filter.view().find_by_domain("@b.test").is_listed());
}

}  // namespace
}  // namespace bloomgate::test
