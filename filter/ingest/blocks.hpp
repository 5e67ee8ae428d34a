// Cuts lists into blocks of whole lines for several workers. The workers share a large file. Only one of them at a time
// reads a pipe or a compressed file, while the others work on earlier blocks or read another list.
//
// If large files are not in the page cache, further threads, which mostly wait for the disk, read them ahead of the
// workers. They bypass that cache, in which these files would only replace data that other programs need.
//
// No input can exhaust memory: a block has a bounded size, and a line that is too long for the canonicaliser is cut.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "filter/ingest/block.hpp"
#include "filter/ingest/input.hpp"
#include "filter/ingest/read_ahead.hpp"

namespace bloomgate {

// Which block comes next. If streams are read in order, other workers wait while one worker reads.
enum class BlockOrder : std::uint8_t {
  any,      // any block that is available without waiting
  in_turn,  // one input after the other, each from its start: Block::turn is the order of the text
};

class Blocks {
 public:
  // `inputs` are paths of files (see list_files), or `-` for standard input; their content shows whether they are
  // compressed. Opens them all, so that a missing one shows before the work. Throws BloomgateError: cannot_open with
  // the input's name, bad_argument for a folder. If `quotes` is true, a line end between double quotes does not end a
  // line, and every list is read in order. A list may change while it is read only as `changes` says.
  Blocks(const std::vector<std::string>& inputs, const std::atomic<bool>& stop, bool quotes = false,
         BlockOrder order = BlockOrder::any, FileChanges changes = FileChanges::refused);
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // Fills in the next block; false if there is none left. Safe from several threads, each with its own block. Throws
  // BloomgateError{cannot_read} with the input's name, {bad_input} if its compressed data are damaged or cut off, and
  // {interrupted} soon after `stop` turned true. After that no blocks are left for the other workers.
  bool next(Block& block);

  // Restricts this object to part `part` of `parts` of the lists. Other processes read the other parts of the same
  // files, so that each line is read once. Only before the first next() and after the last sample().
  void take_share(unsigned part, unsigned parts) noexcept;
  // How many lines of an input start before this share: it reads all of them. Safe from any thread. Throws as next().
  std::uint64_t lines_before_share(std::size_t input);

  // Whether all inputs are plain regular files, so that parts of them can be read; and whether this one is.
  bool in_parts() const noexcept;
  bool in_parts(std::size_t input) const noexcept { return inputs_[input]->in_parts(); }
  // Fills in the lines of such a file that start in [offset, offset + bytes); `bytes` is at most kTextBytes. Only
  // before the first next(), and for one thread. Throws as next() does.
  void sample(std::size_t input, std::uint64_t offset, std::uint64_t bytes, Block& block);

  // The input's name as given; "standard input" for `-`.
  const std::string& name(std::size_t input) const noexcept;
  std::size_t input_count() const noexcept { return inputs_.size(); }

  std::uint64_t file_bytes(std::size_t input) const noexcept;  // of a regular file; else 0
  // Whether it is a pipe, or standard input, that ended before its first byte. Only once all was read.
  bool sent_nothing(std::size_t input) const noexcept { return inputs_[input]->sent_nothing(); }
  // Bytes of all inputs (compressed or not), or of this share of them, if all are regular files; else 0.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  // Bytes read so far. Safe from any thread.
  std::uint64_t done_bytes() const noexcept { return done_bytes_.load(std::memory_order_relaxed); }

 private:
  Input* take_input(std::unique_lock<std::mutex>& lock);
  void start_reading_ahead();
  std::function<void()> claim(Block& block);
  void read(Input& input, std::uint64_t offset, Block& block);

  std::vector<std::unique_ptr<Input>> inputs_;
  BlockOrder order_;
  std::size_t first_ = 0;  // all before it have ended
  std::uint64_t next_turn_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::atomic<std::uint64_t> done_bytes_{0};
  bool failed_ = false;
  std::mutex mutex_;
  std::condition_variable released_;
  std::once_flag started_;
  std::unique_ptr<ReadAhead> ahead_;  // if it is worth while; the last member, since its threads use the others
};

}  // namespace bloomgate
