// Reads pages of one store in separate threads, so that a disk that is slow, or hangs, delays only the messages that
// wait for it, and these only for a limited time.
//
// If a page is in the page cache, the session's thread reads it at once. For any other page a few readers are started,
// when they are first needed; a bounded number of messages waits for them. Each store has its own readers, so a store
// on a disk that hangs does not block another store, nor a store that a reload loads from elsewhere.
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "filter/store/store_file.hpp"
#include "milter/policy/confirmation.hpp"

namespace bloomgate {

class StoreReaders {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kMostReaders = 4;
  static constexpr std::size_t kMostWaiting = 256;  // messages for which no reader has begun to read

  // How the store is read: by StoreFile, or by a substitute in tests. Neither function may throw.
  struct Source {
    std::function<StoreAnswer(KeyHash)> find_cached;  // not_cached: the disk would have to be read
    std::function<StoreAnswer(KeyHash)> find;         // takes as long as the disk takes
  };

  explicit StoreReaders(Source source);
  // Does not wait: a reader in progress ends by itself when the disk has answered, and frees the source.
  ~StoreReaders();
  StoreReaders(const StoreReaders&) = delete;
  StoreReaders& operator=(const StoreReaders&) = delete;

  // Whether the store has the hash. Returns at `deadline` at the latest. `before_waiting`, which may be empty, is
  // called before a wait for the disk.
  Confirmation find(KeyHash hash, Clock::time_point deadline, const std::function<void()>& before_waiting) noexcept;

 private:
  class Crew;

  const std::shared_ptr<Crew> crew_;  // shared with the readers
};

}  // namespace bloomgate
