#include "filter/inputs/stranger_check.hpp"

#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

struct Fixture : InFolder {
  std::string list(const std::string& name, const std::vector<std::string>& lines) const {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    write_file(folder.file(name), text);
    return folder.file(name);
  }
  // Builds a filter of these entries that excludes the senders of these lists.
  StrangerReview build(const std::vector<std::string>& entries, const std::vector<std::string>& lists,
                       bool is_strict = false) {
    BuildOptions options = {.seed = 1, .threads = 2};
    const std::uint64_t memory_bytes = options.memory_bytes;
    shown.clear();
    StrangerCheck check(
        lists, options, is_strict, [this](std::string_view line) { shown.emplace_back(line); }, kNeverStop);
    CHECK(options.memory_bytes == (lists.empty() ? memory_bytes : memory_bytes / 2));
    FilterBuilder builder(options);
    check.attach_to(builder);
    for (const std::string& line : entries) builder.add(canonicalize_list_line(line, {}));
    builder.write(folder.file("filter"), kNeverStop);
    return check.review();
  }

  std::vector<std::string> shown;
};

TEST_CASE_METHOD(Fixture, "excluded senders that are entries are named with their lines in every block of each list") {
  auto lines = numbered_addresses(100, 30'000);
  lines.insert(lines.end(), {"user1@example.org", "no address", "x@corp.example", "@corp.example"});
  const std::string first = list("first", lines);
  const std::string second = list("second", {"# comment", "user2@example.org", "user1@example.org"});
  const StrangerReview review =
      build({"user1@example.org", "user2@example.org", "user3@example.org", "@corp.example"}, {first, second});
  CHECK(shown == std::vector<std::string>{
                     first + ":30001: warning: user1@example.org is an entry, and stays listed",
                     first + ":30003: warning: x@corp.example is listed by its domain, and stays listed",
                     first + ":30004: warning: @corp.example is an entry, and stays listed",
                     second + ":2: warning: user2@example.org is an entry, and stays listed",
                     second + ":3: warning: user1@example.org is an entry, and stays listed",
                 });
  CHECK(review.listed == 4);
  CHECK(review.rejected == 1);
}

TEST_CASE_METHOD(Fixture, "ten excluded senders that are entries are shown, and more are only counted") {
  for (const std::size_t count : {10U, 11U}) {
    CAPTURE(count);
    const auto entries = numbered_addresses(0, count);
    CHECK(build(entries, {list("list", entries)}).listed == count);
    REQUIRE(shown.size() == count);
    CHECK_THAT(shown[9], Catch::Contains(":10: warning: user9@example.org is an entry"));
    if (count > 10) CHECK_THAT(shown[10], Catch::StartsWith("further senders of excluded senders that are entries"));
  }
}

TEST_CASE_METHOD(Fixture, "where excluded senders must not be entries, each entry and each wrong line is refused") {
  const auto refusal = [&](const std::vector<std::string>& lines) {
    return error_of([&] { build({"joe@example.org"}, {list("list", lines)}, true); });
  };
  CHECK(refusal({"joe@example.org"}).code() == ErrorCode::bad_input);
  CHECK_THAT(refusal({"joe@example.org"}).what(), Catch::Contains(" 1 are entries and 0 are no addresses"));
  CHECK_THAT(refusal({"joe", "#"}).what(), Catch::Contains(" 0 are entries and 1 are no addresses"));
  CHECK(build({"joe@example.org"}, {list("list", {"eve@example.org"})}, true).listed == 0);
  CHECK(build({"joe@example.org"}, {}, true).listed == 0);
}

TEST_CASE_METHOD(Fixture, "excluded senders that do not fit into half of the memory are refused with that reason") {
  BuildOptions options = {.seed = 1, .memory_bytes = std::uint64_t{8} << 20};
  const std::string many = list("list", numbered_addresses(0, 600'000));
  const BloomgateError error = error_of([&] { StrangerCheck({many}, options, false, {}, kNeverStop); });
  CHECK(error.code() == ErrorCode::out_of_memory);
  CHECK_THAT(error.what(), Catch::Contains("do not fit into half of the working memory"));
}

}  // namespace
}  // namespace bloomgate::test
