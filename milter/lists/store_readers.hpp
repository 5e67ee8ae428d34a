// Reads pages of one store in threads of its own, so that a disk that is slow, or hangs, holds up nobody but the
// messages that wait for it, and these for a limited time only.
//
// A page in the page cache is read by the session's thread, at once. For any other a few readers are started, when they
// are first needed; a bounded number of messages waits for them. Each store has readers of its own, so a store on a
// disk that hangs does not keep another store from being read, nor the one that a reload brings from elsewhere.
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

  // How the store is read; what StoreFile does, and what tests do instead. Neither may throw.
  struct Source {
    std::function<StoreAnswer(KeyHash)> find_cached;  // not_cached: it would have to wait for the disk
    std::function<StoreAnswer(KeyHash)> find;         // takes as long as the disk takes
  };

  explicit StoreReaders(Source source);
  // Waits for nobody: a reader that is reading ends by itself when the disk has answered, and frees the source.
  ~StoreReaders();
  StoreReaders(const StoreReaders&) = delete;
  StoreReaders& operator=(const StoreReaders&) = delete;

  // Whether the store has the hash. Returns at `deadline` at the latest. `before_waiting`, which may be empty, is
  // called if the disk has to be waited for.
  Confirmation find(KeyHash hash, Clock::time_point deadline, const std::function<void()>& before_waiting) noexcept;

 private:
  class Crew;

  const std::shared_ptr<Crew> crew_;  // shared with the readers
};

}  // namespace bloomgate
