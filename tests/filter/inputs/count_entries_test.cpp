#include "filter/inputs/count_entries.hpp"

#include <string>
#include <vector>

#include "filter/file/mapped_filter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

TEST_CASE_METHOD(InFolder, "the lines that a filter lists are counted, pairs by themselves or also by their senders") {
  build_filter(folder.file("filter"), {"joe@example.org", "@corp.example", "list:a.example",
                                       "ann@example.org > me@ours.example", "@.tree.example > @ours.example"});
  const MappedFilter filter(folder.file("filter"));
  const auto counts_of = [&](const std::string& text, PairFoundBy rule) {
    write_file(folder.file("list"), text);
    OpenLists lists({folder.file("list")}, "text", kNeverStop);
    const EntryCounts counts = count_entries(lists, filter.view(), 2, rule);
    return std::vector{counts.found, counts.missing, counts.rejected};
  };
  using Counts = std::vector<std::uint64_t>;
  const std::string singles = "joe@example.org\n@corp.example\nlist:a.example\neve@corp.example\n# none\nno address\n";
  CHECK(counts_of(singles, PairFoundBy::itself) == Counts{3, 1, 1});
  CHECK(counts_of(singles, PairFoundBy::sender_too) == Counts{3, 1, 1});
  const std::string pairs =
      "ann@example.org > me@ours.example\n@.tree.example > @ours.example\n"
      "joe@example.org > x@ours.example\njoe@example.org > @ours.example\n"
      "@corp.example > x@ours.example\nlist:a.example > x@ours.example\n"
      "list:b.example > x@ours.example\n@else.example > x@ours.example\n"
      "eve@example.org > x@ours.example\n";
  CHECK(counts_of(pairs, PairFoundBy::itself) == Counts{2, 7, 0});
  CHECK(counts_of(pairs, PairFoundBy::sender_too) == Counts{6, 3, 0});
}

}  // namespace
}  // namespace bloomgate::test
