// Writes in its own threads what other threads make, so that these need not wait for the disk, and the disk has several
// requests at a time. Used by BodyWriter and SortedBuild.
//
// It has some pieces of memory. The caller waits for a free piece, fills it, and continues; the piece is free again
// when it has been written. add() is safe from any thread, finish() from one thread while no thread adds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include "filter/base/bounded_queue.hpp"
#include "filter/system/anonymous_memory.hpp"

namespace bloomgate {

class WriteBehind {
 public:
  // Fills the memory, whose bytes may be anything, and returns the part of it that is to be written.
  using Make = std::function<std::span<const std::byte>(std::span<std::byte>)>;
  using Write = std::function<void(std::span<const std::byte>)>;

  // How many writers suit so many threads that make things: one for one, and otherwise at least four, as disks need
  // several requests at a time for their full speed.
  static constexpr unsigned writers_for(unsigned threads) noexcept { return threads == 1 ? 1 : std::max(threads, 4U); }

  // `pieces` may be 0 if everything is already made. Throws BloomgateError{out_of_memory}, and std::system_error if no
  // thread can be started; with fewer writers than requested it is slower.
  WriteBehind(std::size_t piece_bytes, unsigned pieces, unsigned writers);
  // Drops what no writer has begun to write.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // Calls `make` in this thread, and `write` in another one. Throws what `make` throws, and what an earlier `write`
  // threw; then nothing more is made or written.
  void add(const Make& make, Write write);

  // The same for bytes that are already made. They must stay unchanged until they are written, or until this throws:
  // then no writer uses them any more.
  void add(std::span<const std::byte> made, Write write);

  // Waits until everything is written. Throws what a `write` threw.
  void finish();

 private:
  struct Work {
    std::span<std::byte> memory;  // empty: it uses none of the pieces
    std::span<const std::byte> made;
    Write write;
  };

  void write(const Work& work) noexcept;
  void rethrow_failure();
  std::span<std::byte> take_piece();
  void give_back(std::span<std::byte> memory);

  std::optional<AnonymousMemory> memory_;
  std::counting_semaphore<> free_pieces_;
  std::mutex mutex_;  // for the next two
  std::vector<std::span<std::byte>> free_;
  std::exception_ptr failure_;
  BoundedQueue<Work> waiting_;
  std::vector<std::jthread> writers_;  // the last member: they end before the rest does
};

}  // namespace bloomgate
