// Look-ups of pairs in a filter: who is listed for whom, and that nobody is listed for everybody by a pair.
#include <string>
#include <vector>

#include "filter/layout/filter_view.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_filter.hpp"

namespace bloomgate::test {
namespace {

FilterShape roomy(Layout layout = Layout::page) {
  return {.layout = layout,
          .hashes = 20,
          .block_bytes = layout_rules(layout).default_block_bytes(20),
          .block_count = 64,
          .seed = 1};
}

std::string found(const FilterView& view, const std::string& sender, const std::string& recipient) {
  return entry_text(view.find_pair(canonicalize_path(sender).key(), canonicalize_path(recipient).key()).key.view());
}

TEST_CASE("the most specific pair lists a sender for a recipient") {
  MemoryFilter filter(roomy());
  for (const char* line : {"joe@example.org > ann@ours.example", "@example.org > ann@ours.example",
                           "joe@example.org > @ours.example", "@.example.net > @.ours.example", "ann@example.com"}) {
    filter.insert(std::string(line));
  }
  const FilterView view = filter.view();
  CHECK(found(view, "joe@example.org", "ann@ours.example") == "joe@example.org > ann@ours.example");
  CHECK(found(view, "joe@example.org", "bob@ours.example") == "joe@example.org > @ours.example");
  CHECK(found(view, "joe@example.org", "bob@mail.ours.example").empty());
  CHECK(found(view, "jim@example.org", "ann@ours.example") == "@example.org > ann@ours.example");
  CHECK(found(view, "jim@example.org", "bob@ours.example").empty());
  CHECK(found(view, "jim@mail.example.org", "ann@ours.example").empty());
  CHECK(found(view, "jim@a.b.example.net", "bob@mail.ours.example") == "@.example.net > @.ours.example");
  CHECK(found(view, "jim@example.net", "bob@ours.example") == "@.example.net > @.ours.example");
  CHECK(found(view, "ann@ours.example", "joe@example.org").empty());
  // Listed for everybody: that is not for find_pair() to say.
  CHECK(found(view, "ann@example.com", "ann@ours.example").empty());
}

TEST_CASE("in every layout a pair alone lists neither its sender nor its recipient for all recipients") {
  for (const Layout layout : {Layout::page, Layout::line, Layout::classic, Layout::partitioned}) {
    MemoryFilter filter(roomy(layout));
    filter.insert(std::string("joe@example.org > ann@ours.example"));
    filter.insert(std::string("@example.net > @.ours.example"));
    const FilterView view = filter.view();
    CAPTURE(layout_rules(layout).name());
    CHECK(found(view, "joe@example.org", "ann@ours.example") == "joe@example.org > ann@ours.example");
    for (const char* address : {"joe@example.org", "ann@ours.example", "jim@example.net", "jim@ours.example"}) {
      CAPTURE(address);
      CHECK_FALSE(view.find(canonicalize_path(address)).is_listed());
    }
    // The whole pair is no address either.
    CHECK_FALSE(view.find(canonicalize_list_line("joe@example.org > ann@ours.example", {})).is_listed());
  }
}

TEST_CASE("no pair is looked up in a filter without pairs") {
  const FilterShape shape = roomy();
  const std::vector<std::byte> full(body_bytes(shape), std::byte{0xff});
  CHECK_FALSE(FilterView(shape, full).holds_pairs());
  CHECK_FALSE(FilterView(shape, full).find_pair("joe@example.org", "ann@ours.example").is_listed());
  const FilterView only_domains(shape, full, {}, {}, {.domain_pairs = true});
  CHECK(only_domains.holds_pairs());
  CHECK_FALSE(only_domains.find_pair("joe@example.org", "ann@ours.example").is_listed());
  CHECK(FilterView(shape, full, {}, {}, {.pairs_in_bits = 1})
            .find_pair("joe@example.org", "ann@ours.example")
            .is_listed());
}

TEST_CASE("an excluded pair is not listed by its bits, and is listed by a wider pair") {
  MemoryFilter filter(roomy());
  filter.insert(std::string("joe@example.org > ann@ours.example"));
  filter.insert(std::string("@example.net > ann@ours.example"));
  filter.exclude(pair_key("joe@example.org", "ann@ours.example").view());
  filter.insert(std::string("jim@example.net > ann@ours.example"));
  filter.exclude(pair_key("jim@example.net", "ann@ours.example").view());
  const FilterView view = filter.view();
  const FoundPair joe = view.find_pair("joe@example.org", "ann@ours.example");
  CHECK_FALSE(joe.is_listed());
  CHECK(joe.is_excluded);
  const FoundPair jim = view.find_pair("jim@example.net", "ann@ours.example");
  CHECK(entry_text(jim.key.view()) == "@example.net > ann@ours.example");
  CHECK(jim.is_excluded);
}

}  // namespace
}  // namespace bloomgate::test
