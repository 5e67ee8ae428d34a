#include "filter/engine/sorted_build.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "filter/engine/store_build.hpp"
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

TEST_CASE("a rank hands on the hashes of its partitions in order, each once, whatever it had before") {
  const unsigned threads = GENERATE(1U, 3U);
  CAPTURE(threads);
  constexpr unsigned kBits = 4;
  std::vector<KeyHash> handed_on;
  StoreBuild build(
      [&](std::span<const KeyHash> hashes) { handed_on.insert(handed_on.end(), hashes.begin(), hashes.end()); }, kBits,
      threads);
  std::vector<KeyHash> want;
  const auto hash_of = [](std::size_t partition, KeyHash number) {
    return (KeyHash{partition} << (64 - kBits)) + number;
  };
  const auto gather = [&](std::size_t partition, std::vector<KeyHash>& hashes) {
    if (partition % 2 != 0) return;
    for (const KeyHash number : {9U, 1U, 5U, 1U}) hashes.push_back(hash_of(partition, number));
  };
  for (std::size_t partition = 0; partition < 16; partition += 2) {
    for (const KeyHash number : {1U, 5U, 9U}) want.push_back(hash_of(partition, number));
  }
  // Fewer than before, and more.
  build.take(0, 3, gather);
  build.take(3, 4, gather);
  build.take(4, 16, gather);
  CHECK(handed_on == want);
}

}  // namespace
}  // namespace bloomgate
