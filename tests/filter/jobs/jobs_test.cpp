// The jobs as their callers have them who print nothing: results as values, what they tell an observer, and the stop.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "filter/file/mapped_filter.hpp"
#include "filter/jobs/combine_job.hpp"
#include "filter/jobs/query_job.hpp"
#include "filter/jobs/verify_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

class Watched : public JobObserver {
 public:
  void begin(std::function<WorkState()> look) override {
    works.emplace_back(look().doing);
    look_ = std::move(look);
  }
  void end() noexcept override {
    ++ended;
    last = look_();
  }
  void warn(std::string_view line) override { lines.emplace_back(line); }
  void note(std::string_view line) override { warn(line); }

  std::vector<std::string> works;
  std::size_t ended = 0;
  WorkState last;  // when it ended
  std::vector<std::string> lines;

 private:
  std::function<WorkState()> look_;
};

class Jobs {
 protected:
  std::string filter(const std::string& name, const std::vector<std::string>& lines) {
    const std::string path = folder.file(name);
    build_filter(path, lines, {.expected_entries = 1000, .seed = 1});
    return path;
  }

  TemporaryFolder folder;
  Watched watched;
  std::atomic<bool> stop{false};
};

TEST_CASE_METHOD(Jobs, "a verification gives what it has found, and names what is missing to its observer") {
  const std::string path = filter("a", {"joe@example.org", "@example.net"});
  write_file(folder.file("list"), "joe@example.org\nnobody@nowhere.example\n");
  VerifyJob job({.path = path, .trusted = {}, .store_path = {}, .lists = {folder.file("list")}}, watched, stop);
  const VerifyResult& result = job.run();
  REQUIRE(result.filters.size() == 1);
  CHECK(result.filters.front().path == path);
  CHECK(result.members->found == 1);
  CHECK(result.members->missing == 1);
  CHECK(result.rate->agrees());
  CHECK(watched.lines == std::vector{folder.file("list") + ":2: not in the filter: nobody@nowhere.example"});
  CHECK(watched.works.front() == "checking");
  CHECK(watched.works.back() == "reading");
  CHECK(watched.ended == watched.works.size());
}

TEST_CASE_METHOD(Jobs, "a verification that fails or is stopped leaves what it had found before") {
  VerifyJob without_lists(
      {.path = filter("a", {"joe@example.org"}), .trusted = {}, .store_path = {}, .lists = {folder.file("none")}},
      watched, stop);
  CHECK(error_code_of([&] { without_lists.run(); }) == ErrorCode::cannot_open);
  CHECK(without_lists.result().filters.size() == 1);
  CHECK_FALSE(without_lists.result().members);
  CHECK(watched.last.done_bytes == watched.last.total_bytes);
  CHECK(watched.last.total_bytes == without_lists.result().filters.front().body_bytes);
  stop = true;
  VerifyJob stopped({.path = folder.file("a"), .trusted = {}, .store_path = {}, .lists = {}}, watched, stop);
  CHECK(error_code_of([&] { stopped.run(); }) == ErrorCode::interrupted);
  CHECK(stopped.result().filters.empty());
  CHECK(watched.ended == watched.works.size());
}

TEST_CASE_METHOD(Jobs, "a look-up gives each answer as a value") {
  std::vector<std::string> by;
  std::string text;
  QueryJob job(
      {.path = filter("a", {"joe@example.org", "@example.net"}), .store_path = {}, .shown = {}},
      [&](const Answer& answer, std::string& to) {
        to.append(answer.entry).append(answer.is_listed ? "+" : "-");
        if (answer.fault != nullptr) to.append(answer.fault->name);
        by.emplace_back(answer.by);
      },
      [&](std::string_view answers) {
        text += answers;
        return true;
      });
  for (const char* const asked : {"<Joe@Example.org>", "x@example.net", "<>", "nonsense"}) job.look_up(asked);
  CHECK(text == "joe@example.org+x@example.net+<>--missing-at-sign");
  CHECK(by == std::vector<std::string>{"", "@example.net", "", ""});
  CHECK(job.total().listed == 2);
  CHECK(job.total().not_listed == 1);
  CHECK(job.total().rejected == 1);
}

TEST_CASE_METHOD(Jobs, "a combination is written if its limits allow it, and not once it is stopped") {
  CombineRequest request = {
      {.output = filter("both", {"1@example.org", "2@example.org", "3@example.org", "4@example.org", "5@example.org"})},
      {filter("a", {"joe@example.org"}), filter("b", {"ann@example.org"})}};
  CHECK(error_code_of([&] { combine(request, watched.warns(), stop); }) == ErrorCode::bad_input);
  CHECK(MappedFilter(request.output).header().addresses == 5);
  request.combination = Combination::intersect;
  request.filters.front() = request.output;
  CHECK(error_code_of([&] { combine(request, watched.warns(), stop); }) == ErrorCode::bad_input);
  request.combination = Combination::unite;
  CHECK(combine(request, watched.warns(), stop).addresses == 6);
  request.filters.front() = folder.file("a");
  request.limits.shrink.is_lifted = true;
  CHECK(combine(request, watched.warns(), stop).addresses == 2);
  CHECK(MappedFilter(request.output).header().addresses == 2);
  CHECK(watched.lines.empty());
  stop = true;
  CHECK(error_code_of([&] { combine(request, watched.warns(), stop); }) == ErrorCode::interrupted);
}

TEST_CASE_METHOD(Jobs, "two filters are compared with their pairs, which either of them may have") {
  const std::string pairs = filter("pairs", {"joe@example.org > ann@ours.example"});
  const std::string other = filter("other", {"joe@example.org"});
  CHECK(compare_filters(pairs, other, 1).with_pairs);
  CHECK(compare_filters(other, pairs, 1).with_pairs);
  CHECK_FALSE(compare_filters(other, other, 1).with_pairs);
}

}  // namespace
}  // namespace bloomgate::test
