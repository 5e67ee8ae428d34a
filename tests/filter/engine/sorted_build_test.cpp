#include "filter/engine/sorted_build.hpp"

#include <atomic>
#include <stdexcept>

#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

TEST_CASE_METHOD(test::InFolder,
                 "if a piece cannot be made, the build ends with the reason, also while other threads wait for it") {
  const FilterShape shape = {
      .layout = Layout::page, .hashes = 6, .block_bytes = 4096, .block_count = 300, .seed = 7, .store_seed = 3};
  FilterWriter filter(folder.file("filter"), {.shape = shape, .expected_entries = 1, .addresses = 1});
  StoreWriter store(folder.file("store"), {.seed = 3}, 1, 0, 2);
  WriteProgress progress;
  SortedBuild build(filter, store, shape, 2, nullptr, test::kNeverStop, progress);
  bool has_piece = true;
  std::atomic<bool> nothing_is_left{false};
  const auto next = [&]() -> SortedBuild::MakePiece {
    if (has_piece) {
      has_piece = false;
      return [&](unsigned, std::vector<KeyHash>&) {
        nothing_is_left.wait(false);
        throw std::runtime_error("no such piece");
      };
    }
    // This thread waits before the other one can say that it failed.
    nothing_is_left = true;
    nothing_is_left.notify_all();
    return {};
  };
  CHECK_THROWS_WITH(build.run(next), "no such piece");
}

}  // namespace
}  // namespace bloomgate
