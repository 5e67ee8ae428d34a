// Reads blocks before anyone asks for them, in its own threads, so that workers need not wait for the disk. Blocks come
// in the order in which they were claimed. Used by Blocks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "filter/ingest/block.hpp"

namespace bloomgate {

class ReadAhead {
 public:
  // Claims the next block and returns a function that reads it, which any thread may call at any time; nothing at the
  // end. One thread at a time calls it. Both may throw.
  using Claim = std::function<std::function<void()>(Block& block)>;

  // Throws std::system_error if the system gives no thread.
  explicit ReadAhead(Claim claim);
  // Waits for the reads that have begun.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Fills in the next block, in exchange for the storage of `block`; false if there is none left. Safe from several
  // threads, each with its own block. Throws once what reading threw; after that there is none left.
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

}  // namespace bloomgate
