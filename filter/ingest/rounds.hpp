// Reads lists of any length with bounded memory, in rounds: several workers read blocks until that memory is full, then
// room is made. The outer loop of `bloomgate build` and of counting look-ups.
#pragma once

#include <atomic>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/ingest/entries.hpp"

namespace bloomgate {

// Calls `work(block, lane)` for every block, in `threads` threads with a lane of `sink` each. Calls `make_room()`
// whenever `sink` could not accept another block, but not after the last one. `sink` is a FilterBuilder or a
// BulkLookup. Throws what Blocks, Format, `work` and `make_room` throw, and BloomgateError{out_of_memory} if an empty
// `sink` has no room for a block.
template <typename Sink, typename Work, typename MakeRoom>
void for_each_block_in_rounds(Blocks& blocks, Format& format, unsigned threads, Sink& sink, Work work,
                              MakeRoom make_room) {
  while (true) {
    std::atomic<bool> full{false};
    std::atomic<bool> worked{false};
    run_parallel(threads, [&](unsigned index) {
      auto& lane = sink.lane(index);
      Block block;
      while (true) {
        if (!sink.has_room_for(kMostEntriesOfBlock)) {
          full = true;
          break;
        }
        if (!blocks.next(block)) break;
        worked = true;
        format.start_block(block, blocks.name(block.input));
        work(block, lane);
      }
      lane.settle();
    });
    if (!full) return;
    if (!worked) {
      throw BloomgateError(ErrorCode::out_of_memory, "the working memory is too small for one block; raise --memory");
    }
    make_room();
  }
}

}  // namespace bloomgate
