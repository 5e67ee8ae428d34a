// Many workers, one order: several threads work on blocks of lists, and the results are used in the order of the text.
// Used by `bloomgate query` and `verify`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "filter/base/parallel.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/format.hpp"

namespace bloomgate {

// Accepts the workers' results in any order and passes them on in the order of the blocks. A worker that is far ahead
// waits in put(), so that memory holds few results; the worker with the next block never waits.
template <typename Result, typename Use>
class Turns {
 public:
  // `use(result)` returns whether it needs more results.
  Turns(std::uint64_t most_waiting, Use use) : most_waiting_(most_waiting), use_(std::move(use)) {}

  // Returns false if no more results are needed.
  bool put(std::uint64_t turn, Result result) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return ended_ || turn < next_ + most_waiting_; });
    if (ended_) return false;
    waiting_.emplace(turn, std::move(result));
    while (!ended_ && !waiting_.empty() && waiting_.begin()->first == next_) {
      ended_ = !use_(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_;
    }
    moved_.notify_all();
    return !ended_;
  }

  // Ends all waiting, so that no worker waits for one that failed.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    moved_.notify_all();
  }

 private:
  std::uint64_t most_waiting_;
  Use use_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::uint64_t, Result> waiting_;
  std::uint64_t next_ = 0;
  bool ended_ = false;
};

// Calls `work(block)` for each remaining block, in `threads` threads at once; `work` may keep the block. Calls
// `use(result)` with each result, in the order of the blocks and by one thread at a time, until `use` returns false.
// `blocks` must have BlockOrder::in_turn, and all blocks before `first_turn` must have been handed out. Throws what
// Blocks, `work` and `use` throw.
template <typename Work, typename Use>
void for_each_block_in_turn(Blocks& blocks, std::uint64_t first_turn, unsigned threads, Work work, Use use) {
  constexpr std::uint64_t kAheadOfEach = 4;  // some MiB
  using Result = decltype(work(std::declval<Block>()));
  Turns<Result, Use> turns(kAheadOfEach * threads, std::move(use));
  run_parallel(threads, [&](unsigned) {
    try {
      bool more = true;
      for (Block block; more && blocks.next(block);) {
        const std::uint64_t turn = block.turn - first_turn;
        more = turns.put(turn, work(std::move(block)));
      }
    } catch (...) {
      turns.end();
      throw;
    }
  });
}

// The same for lists in a format, from their first block on.
template <typename Work, typename Use>
void for_each_block_in_turn(Blocks& blocks, Format& format, unsigned threads, Work work, Use use) {
  const auto in_format = [&](const Block& block) {
    format.start_block(block, blocks.name(block.input));
    return work(block);
  };
  for_each_block_in_turn(blocks, 0, threads, in_format, std::move(use));
}

}  // namespace bloomgate
