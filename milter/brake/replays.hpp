// Counts how often each of the last messages has come within an hour, or a little longer: within three half hours. It
// knows a message by a hash of its Message-ID and sender. Memory is bounded: if a message is forgotten too early, its
// count starts again, but the message still counts for its sender.
// Not safe to share between threads without a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter/hash/hash.hpp"
#include "milter/brake/sender_counts.hpp"

namespace bloomgate {

class Replays {
 public:
  static constexpr std::size_t kMessages = std::size_t{1} << 16;  // messages that are remembered; 1 MiB

  // Counts a copy of the message. Returns the number of copies, including this one, in the three half hours that began
  // with that of the first.
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
