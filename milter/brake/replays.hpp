// How often each of the last messages has come within an hour, by a hash of its Message-ID and sender. In bounded
// memory: a message that is forgotten too early begins again, and still counts as one of its sender's. Not shared
// between threads without a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter/hash/hash.hpp"
#include "milter/brake/sender_counts.hpp"

namespace bloomgate {

class Replays {
 public:
  static constexpr std::size_t kMessages = std::size_t{1} << 16;  // that are kept; 1 MiB

  // Counts a copy of the message. Returns how many there were, with this one, in the hour since the first.
  std::uint32_t count(KeyHash message, HalfHours now) noexcept;

 private:
  static constexpr std::size_t kGroup = 4;

  struct Seen {
    KeyHash message = 0;
    HalfHours first = 0;
    std::uint32_t copies = 0;  // 0: free
  };

  std::vector<Seen> seen_ = std::vector<Seen>(kMessages);
};

}  // namespace bloomgate
