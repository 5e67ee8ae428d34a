// What each minute of the last day brought, for the picture on the status page. It is made from counts that only grow,
// once a minute, so messages pay nothing for it. Used by one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace bloomgate {

// Messages since the start of the daemon, or of a minute.
struct MessageCounts {
  std::uint64_t delivered = 0;
  std::uint64_t checked = 0;
  std::uint64_t exempt = 0;
  std::uint64_t refused = 0;

  friend MessageCounts operator-(const MessageCounts& a, const MessageCounts& b) noexcept {
    return {a.delivered - b.delivered, a.checked - b.checked, a.exempt - b.exempt, a.refused - b.refused};
  }
  MessageCounts& operator+=(const MessageCounts& other) noexcept {
    delivered += other.delivered;
    checked += other.checked;
    exempt += other.exempt;
    refused += other.refused;
    return *this;
  }
  friend bool operator==(const MessageCounts&, const MessageCounts&) = default;
};

class MinuteRing {
 public:
  static constexpr std::size_t kMinutes = 24 * 60;

  // A minute is over, and these are the counts since the start, never less than those of the last call.
  void close(const MessageCounts& since_start) noexcept {
    ring_[closed_++ % kMinutes] = since_start - before_;
    before_ = since_start;
  }

  // How many minutes it knows: kMinutes at most.
  std::size_t size() const noexcept { return std::min(closed_, kMinutes); }

  // The minute that was over `minutes_ago` minutes before the last one; less than size().
  const MessageCounts& ago(std::size_t minutes_ago) const noexcept {
    return ring_[(closed_ - 1 - minutes_ago) % kMinutes];
  }

 private:
  std::array<MessageCounts, kMinutes> ring_ = {};
  MessageCounts before_ = {};
  std::size_t closed_ = 0;
};

}  // namespace bloomgate
