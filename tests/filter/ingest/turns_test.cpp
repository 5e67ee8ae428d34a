#include "filter/ingest/turns.hpp"

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate {
namespace {

// Three lists of several blocks each; a line tells which it is.
struct Lists {
  Lists() {
    for (int list = 0; list < 3; ++list) {
      names.push_back(folder.file("list" + std::to_string(list)));
      std::ofstream file(names.back());
      for (int i = 0; i < 150'000; ++i) file << list << ':' << i << "\n";
    }
  }

  test::TemporaryFolder folder;
  std::vector<std::string> names;
  std::atomic<bool> stop{false};
};

TEST_CASE_METHOD(Lists, "the results of blocks are used in the order of the text, with any number of threads") {
  const auto threads = GENERATE(1U, 2U, 7U);
  Blocks blocks(names, stop, false, BlockOrder::in_turn);
  const auto format = make_format("text", names.size());
  std::string all;
  for_each_block_in_turn(
      blocks, *format, threads, [](const Block& block) { return std::string(block.text); },
      [&](const std::string& text) {
        all += text;
        return true;
      });
  std::string want;
  for (int list = 0; list < 3; ++list) {
    for (int i = 0; i < 150'000; ++i) want += std::to_string(list) + ':' + std::to_string(i) + '\n';
  }
  CHECK((all == want));
}

TEST_CASE_METHOD(Lists, "after a stop no further block is worked on") {
  Blocks blocks(names, stop, false, BlockOrder::in_turn);
  const auto format = make_format("text", names.size());
  int used = 0;
  for_each_block_in_turn(blocks, *format, 4, [](const Block&) { return 0; }, [&](int) { return ++used < 2; });
  CHECK(used == 2);
}

TEST_CASE_METHOD(Lists, "a worker that fails ends the others, and its error is thrown") {
  Blocks blocks(names, stop, false, BlockOrder::in_turn);
  const auto format = make_format("text", names.size());
  const auto work = [](const Block& block) {
    if (block.turn == 0) throw std::runtime_error("first");
    return 0;
  };
  int used = 0;
  CHECK_THROWS_WITH(for_each_block_in_turn(blocks, *format, 3, work,
                                           [&](int) {
                                             ++used;
                                             return true;
                                           }),
                    "first");
  CHECK(used == 0);
}

}  // namespace
}  // namespace bloomgate
