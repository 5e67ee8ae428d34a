// Makes the bits of a filter and the pages of its store from the same hashes, which come in ascending order, piece by
// piece: the common part of sorting and merging. Used by FilterBuilder and StoreUpdate.
//
// Each thread takes the next work: first MiBs of the array and of the pages whose hashes are complete, so that their
// memory is soon free again, and then the next piece of hashes. No thread waits for another one unless all work is
// handed out. WriteBehind's own threads write the results.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "filter/engine/body_stream.hpp"
#include "filter/engine/write_progress.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/gather/hash_pool.hpp"
#include "filter/store/store_writer.hpp"
#include "filter/system/write_behind.hpp"

namespace bloomgate {

class SortedBuild {
 public:
  // Appends the hashes of a piece, in strictly ascending order and greater than those of the pieces before. Different
  // threads make different pieces at once; `thread` is the number of the calling thread.
  using MakePiece = std::function<void(unsigned thread, std::vector<KeyHash>& out)>;
  // Returns the next piece, or an empty function if there are no more. Called by one thread at a time.
  using NextPiece = std::function<MakePiece()>;

  // All of these must outlive the object. `shape` is that of a filter that is made from a store. Throws
  // BloomgateError{out_of_memory}.
  SortedBuild(FilterWriter& filter, StoreWriter& store, const FilterShape& shape, unsigned threads,
              KnownStrangers* strangers, const std::atomic<bool>& stop, WriteProgress& progress);

  // Makes and writes all of it; call it once. Throws what the functions and the writers throw, and
  // BloomgateError{interrupted}.
  void run(const NextPiece& next);

  // The number of ones in the array, valid after run().
  std::uint64_t ones() const noexcept { return ones_; }

 private:
  using Work = std::function<void(unsigned thread)>;

  void work_until_done(const NextPiece& next, unsigned thread);
  Work next_work(const NextPiece& next);
  void make_piece(std::size_t index, const MakePiece& make, unsigned thread);
  void cut_what_is_there();
  void plan(std::vector<BodyStream::Chunk> body, std::vector<StoreChunk> store);
  void make(const BodyStream::Chunk& chunk);
  void make(const StoreChunk& chunk);

  FilterWriter& filter_;
  StoreWriter& store_;
  FilterShape shape_;
  unsigned threads_;
  KnownStrangers* strangers_;
  const std::atomic<bool>& stop_;
  WriteProgress& progress_;
  std::atomic<std::uint64_t> ones_{0};
  HashPool pool_;
  // Under the mutex:
  std::mutex mutex_;
  std::condition_variable changed_;
  BodyStream body_;
  std::deque<Work> chunks_;              // whose hashes are complete
  std::map<std::size_t, HashRun> made_;  // finished pieces after one that is not finished
  std::size_t begun_ = 0;                // pieces
  std::size_t cut_ = 0;                  // of these
  bool has_more_ = true;
  bool has_ended_ = false;  // all is cut, or a thread failed
  WriteBehind disk_;        // the last member: its threads use the others
};

}  // namespace bloomgate
