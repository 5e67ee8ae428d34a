// Reads blocks before they are asked for, in threads of its own, so that workers need not wait for the disk. Blocks are
// handed out in the order in which they were claimed. Used by Blocks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "filter/cli/lists/block.hpp"

namespace bloomgate::cli {

class ReadAhead {
 public:
  // Claims the next block and gives what reads it, which may be called at any time and from any thread; nothing at the
  // end. Called by one thread at a time. Either may throw.
  using Claim = std::function<std::function<void()>(Block& block)>;

  // Throws std::system_error where no thread can be had.
  explicit ReadAhead(Claim claim);
  // Waits for the reads that are under way.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Fills in the next block, in exchange for what `block` has for storage; false when there is none left. Safe from
  // several threads, each with a block of its own. Throws what reading it threw, once; after that there is none left.
  bool next(Block& block);

 private:
  struct Slot {
    Block block;
    bool is_ready = false;
    std::exception_ptr failure;
  };

  Slot& slot(std::uint64_t number) noexcept { return slots_[number % slots_.size()]; }
  void read_blocks();
  void end();

  Claim claim_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable room_;
  std::vector<Slot> slots_;
  std::uint64_t claimed_ = 0;
  std::uint64_t handed_out_ = 0;
  bool ended_ = false;  // nothing more is claimed
  std::vector<std::jthread> readers_;
};

}  // namespace bloomgate::cli
