// Reads blocks in its own threads before workers ask for them, so that workers need not wait for the disk. Blocks come
// in the order in which they were claimed. Used by Blocks.
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "filter/base/bounded_queue.hpp"
#include "filter/ingest/block.hpp"

namespace bloomgate {

class ReadAhead {
 public:
  // Claims the next block and returns a function that reads it, which any thread may call at any time; nothing at the
  // end. One thread at a time calls it. Both may throw.
  using Claim = std::function<std::function<void()>(Block& block)>;

  // Throws std::system_error if the system cannot start a thread.
  explicit ReadAhead(Claim claim);
  // Waits for the reads that have begun.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Fills in the next block, in exchange for the storage of `block`; false if there is none left. Safe from several
  // threads, each with its own block. Throws what reading threw; after that no block is left.
  bool next(Block& block);

 private:
  struct Slot {
    Block block;
    std::exception_ptr failure;  // instead of the block
    std::future<void> is_read;
  };
  // A slot that the thread has to fill.
  struct Claimed {
    Slot* slot;
    std::function<void()> read;  // empty if the claim has failed
    std::promise<void> is_read;
  };

  std::optional<Claimed> claim_slot();  // nothing at the end
  void read_blocks();
  void end() noexcept;  // nothing more is claimed

  Claim claim_;
  std::mutex claiming_;
  std::vector<Slot> slots_;
  BoundedQueue<Slot*> free_;
  BoundedQueue<Slot*> in_order_;  // claimed, read or not
  std::vector<std::jthread> readers_;
};

}  // namespace bloomgate
