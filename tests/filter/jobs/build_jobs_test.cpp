// The jobs as a program without a command line has them: typed requests and results, an observer, a flag that stops.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/jobs/build_job.hpp"
#include "filter/jobs/layer_job.hpp"
#include "filter/jobs/update_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

class Watcher : public JobObserver {
 public:
  void begin(std::function<WorkState()> look) override {
    begun.emplace_back(look().doing);
    look_ = std::move(look);
  }
  // A file is checked after it is written.
  void end() noexcept override { ended.emplace_back(look_().doing); }
  void warn(std::string_view line) override { warnings.emplace_back(line); }
  void note(std::string_view /*line*/) override {}

  std::vector<std::string> begun;
  std::vector<std::string> ended;
  std::vector<std::string> warnings;

 private:
  std::function<WorkState()> look_;
};

struct Fixture : test::InFolder {
  std::string list(const std::string& name, const std::string& text) const {
    test::write_file(folder.file(name), text);
    return folder.file(name);
  }
  BuildRequest request(const std::string& text) const {
    return {{.output = folder.file("a.bloom")}, {list("list", text)}};
  }
  BuildResult build(BuildRequest request) { return build_from_lists(std::move(request), watcher, stop); }

  Watcher watcher;
  std::atomic<bool> stop{false};
};

TEST_CASE_METHOD(Fixture, "a build gives its result, and an observer sees its work and its warnings") {
  BuildRequest asked = request("ann@example.org\nbob@example.org\n@example.net\nno address\n");
  asked.limits.rejects.is_lifted = true;
  const BuildResult result = build(asked);
  CHECK(result.header.addresses == 2);
  CHECK(result.header.domains == 1);
  CHECK(result.rejected == 1);
  CHECK(MappedFilter(result.output).header().shape.seed == result.header.shape.seed);
  CHECK(watcher.begun == std::vector<std::string>{"reading"});
  CHECK(watcher.ended == std::vector<std::string>{"checking"});
  CHECK(std::ranges::any_of(watcher.warnings, [](const auto& line) { return line.find("no address") != line.npos; }));
}

TEST_CASE_METHOD(Fixture, "without a command line no message of a build names an option") {
  const auto message_of = [&](BuildRequest asked) -> std::string {
    try {
      build(std::move(asked));
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  BuildRequest strict = request("ann@example.org\nno address\n");
  strict.is_strict = true;
  BuildRequest over_list = request("ann@example.org\n");
  over_list.output = over_list.inputs.front();
  BuildRequest seeded = request("ann@example.org\n");
  seeded.store_seed = 1;
  for (const BuildRequest& asked :
       {strict, over_list, seeded, request("# nothing\n"), request("ann@example.org\nno\nno\nno\n")}) {
    const std::string message = message_of(asked);
    CAPTURE(message);
    CHECK(message != "nothing was refused");
    CHECK(message.find("--") == std::string::npos);
  }
  CHECK(watcher.begun.size() == watcher.ended.size());
}

TEST_CASE("the size of a filter, and what its domains of senders cost, are known before the lists are read") {
  CHECK(is_estimate_off(102, 100));
  CHECK_FALSE(is_estimate_off(101, 100));
  CHECK_FALSE(is_estimate_off(99, 100));
  CHECK(is_estimate_off(98, 100));
  BuildOptions options;
  CHECK(expected_bytes(options) == 0);
  options.expected_entries = 0;
  CHECK(expected_bytes(options) == 4096);
  options.expected_entries = 4097;
  CHECK(expected_bytes(options) == 8192);
  options.layout = Layout::counting;
  CHECK(expected_bytes(options) == 4 * 8192);
  options.layout = Layout::page;
  options.block_bytes = 1024;
  options.expected_entries = 1'000'000'000;
  CHECK(expected_bytes(options) == 1'000'000'512);
  CHECK(cost_of_sender_domains(options).empty());
  options.sender_domains = true;
  const std::string cost = "the domains of all addresses take up to 3.77 GiB (4,042,772,160 bytes) of the filter";
  CHECK_THAT(cost_of_sender_domains(options), Catch::StartsWith(cost + ", if each address"));
  options.store_path = "store";
  CHECK_THAT(cost_of_sender_domains(options),
             Catch::StartsWith(cost + " and 7.45 GiB (8,000,000,000 bytes) of the store, if"));
  options.expected_entries = 1'000'000;
  CHECK(cost_of_sender_domains(options).empty());
}

TEST_CASE_METHOD(Fixture, "a filter is replaced by one of half as many entries, rounded up, and not by a smaller one") {
  build(request("1@a.example\n2@a.example\n3@a.example\n4@a.example\n@b.example\n"));
  CHECK(test::error_code_of([&] { build(request("1@a.example\n2@a.example\n")); }) == ErrorCode::bad_input);
  CHECK(build(request("1@a.example\n2@a.example\n@b.example\n")).header.addresses == 2);
}

TEST_CASE_METHOD(Fixture, "a flag stops a job, which leaves nothing behind") {
  stop = true;
  CHECK(test::error_code_of([&] { build(request("ann@example.org\n")); }) == ErrorCode::interrupted);
  CHECK_FALSE(std::filesystem::exists(folder.file("a.bloom")));
}

TEST_CASE_METHOD(Fixture, "a store is changed by a job") {
  BuildRequest asked = request("ann@example.org\nbob@example.org\n");
  asked.options.store_path = folder.file("a.store");
  asked.options.sender_domains = true;
  build(asked);
  UpdateRequest change = {{.output = asked.output}, asked.options.store_path};
  change.add = {list("new", "eve@example.org\n")};
  change.remove = {list("gone", "bob@example.org\nnone@example.org\n")};
  change.options.sender_domains = true;
  const UpdateResult result = update_store(change, watcher, stop);
  CHECK(result.counts == UpdateCounts{.added = 1, .removed = 1, .not_there = 1});
  CHECK(watcher.ended == std::vector<std::string>{"checking", "checking"});
  CHECK(result.store_path == change.store);
  CHECK(MappedFilter(result.output).header().addresses == 2);
}

TEST_CASE_METHOD(Fixture, "layers are appended and folded by a job") {
  LayerRequest asked = {.folder = folder.file("layers"), .build = request("ann@example.org\n")};
  const auto job = [&] { return LayerJob(asked, watcher, stop); };
  const auto first = job().append();
  REQUIRE(first);
  CHECK(first->output == folder.file("layers/0001.bloom"));
  asked.build = request("bob@example.org\n");
  CHECK(job().append()->output == folder.file("layers/0002.bloom"));
  asked.build = request("# nothing\n");
  asked.build.limits.empty.is_lifted = true;
  CHECK_FALSE(job().append());
  asked.build = request("ann@example.org\nbob@example.org\n");
  const FoldResult folded = job().fold();
  CHECK(folded.layers == 2);
  CHECK(folded.output == first->output);
  CHECK(folded.built->header.addresses == 2);
  CHECK(layers_in(asked.folder).size() == 1);
  asked.build.inputs = {folded.output};
  CHECK_THROWS_AS(job().fold(), UsageError);
}

}  // namespace
}  // namespace bloomgate
