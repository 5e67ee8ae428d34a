#include "filter/inputs/store_inputs.hpp"

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/store/store_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

struct Fixture : InFolder {
  std::string write(const std::string& name, const std::vector<KeyHash>& hashes, const StorePart& part = {}) const {
    StoreWriter writer(folder.file(name), {.seed = 42}, hashes.size(), 0, 1);
    writer.add(hashes);
    writer.set_part(part);
    writer.complete();
    writer.stage();
    writer.publish();
    return folder.file(name);
  }
  static std::vector<KeyHash> even_hashes(std::size_t count) {
    std::vector<KeyHash> hashes;
    for (KeyHash i = 0; i < count; ++i) hashes.push_back(i << 44);
    return hashes;
  }
};

TEST_CASE_METHOD(Fixture, "stores are taken from among the lists, counted, and added with their progress") {
  const std::string a = write("a", even_hashes(20'000));
  const std::string part = write("part", even_hashes(3), {.index = 0, .parts = 1, .run = 1, .repeated = 4});
  write_file(folder.file("list"), "joe@example.org\n");
  std::vector<std::string> files = {a, folder.file("list"), part, "-"};
  StoreInputs stores(files);
  CHECK(files == std::vector<std::string>{folder.file("list"), "-"});
  CHECK(stores.addresses() == 20'007);
  CHECK(stores.total_bytes() == std::filesystem::file_size(a) + std::filesystem::file_size(part));
  FilterBuilder builder({.seed = 1, .threads = 2, .store_seed = 42});
  for (int run = 0; run < 2; ++run) {  // each counts from the start
    CHECK(stores.add_to(builder, 2, {}, kNeverStop) == 0);
    const std::uint64_t pages = stores.stores()[0]->header().pages + 1;
    CHECK(pages > 8);
    CHECK(stores.done_bytes() == pages * kStorePageBytes);
  }
  const std::atomic<bool> stop{true};
  CHECK(error_code_of([&] { stores.add_to(builder, 2, {}, stop); }) == ErrorCode::interrupted);
}

TEST_CASE_METHOD(Fixture, "a store that is written to while it is added is refused") {
  std::vector<std::string> files = {write("a", even_hashes(3))};
  make_old(folder.file("a"));
  StoreInputs stores(files);
  write_file(folder.file("a"), read_file(folder.file("a")));
  FilterBuilder builder({.seed = 1, .store_seed = 42});
  const BloomgateError error = error_of([&] { stores.add_to(builder, 1, {}, kNeverStop); });
  CHECK(error.code() == ErrorCode::changed_while_open);
  CHECK_THAT(error.what(), Catch::Contains("/a was written to while it was open"));
}

TEST_CASE_METHOD(Fixture, "the first ten of many missing parts are named") {
  const auto says = [&](std::uint32_t index, std::uint32_t parts) {
    std::vector<std::string> files = {write("a", even_hashes(3), {.index = index, .parts = parts, .run = 1})};
    return std::string(error_of([&] { StoreInputs{files}; }).what());
  };
  CHECK_THAT(says(1, 2), Catch::Contains("/a is one of 2 parts, and part 0 is missing; "));
  CHECK_THAT(says(0, 11), Catch::Contains(" and parts 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 are missing; "));
  CHECK_THAT(says(0, 12), Catch::Contains(" and parts 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and others are missing; "));
}

TEST_CASE_METHOD(Fixture, "the progress of lists and stores is that of both, if the sizes of all are known") {
  write_file(folder.file("list"), "joe@example.org\n");
  std::vector<std::string> files = {write("a", even_hashes(3))};
  const std::uint64_t bytes = std::filesystem::file_size(files[0]);
  StoreInputs stores(files);
  FilterBuilder builder({.seed = 1, .store_seed = 42});
  stores.add_to(builder, 1, {}, kNeverStop);
  OpenLists lists({folder.file("list")}, "text", kNeverStop);
  Block block;
  while (lists.blocks.next(block)) lists.format->start_block(block, "list");
  const WorkState both = state_of(lists, stores);
  CHECK(std::string(both.doing) == "reading");
  CHECK(both.done_bytes == 16 + kStorePageBytes);
  CHECK(both.total_bytes == 16 + bytes);
  CHECK(state_of(OpenLists({}, "text", kNeverStop), stores).total_bytes == bytes);
  CHECK(state_of(OpenLists({"/dev/null"}, "text", kNeverStop), stores).total_bytes == 0);
}

TEST_CASE("a filter is written, and then checked") {
  WriteProgress progress;
  CHECK(std::string(state_of(progress).doing) == "writing");
  progress.total_bytes = 10;
  progress.done_bytes = 9;
  const WorkState state = state_of(progress);
  CHECK(std::string(state.doing) == "writing");
  CHECK(state.done_bytes == 9);
  CHECK(state.total_bytes == 10);
  progress.done_bytes = 10;
  CHECK(std::string(state_of(progress).doing) == "checking");
}

}  // namespace
}  // namespace bloomgate::test
