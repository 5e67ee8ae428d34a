#include "milter/glue/packet_check.hpp"

#include <algorithm>
#include <limits>

namespace bloomgate {

bool PacketCheck::take(std::span<const unsigned char> bytes) noexcept {
  while (!bytes.empty()) {
    if (left_ == 0) {
      const unsigned char byte = bytes.front();
      bytes = bytes.subspan(1);
      if (++have_ < kHeadBytes) {
        length_ = length_ << 8 | byte;
      } else {
        begin_packet(byte);
      }
      continue;
    }
    const std::span part = bytes.first(std::min<std::size_t>(left_, bytes.size()));
    bytes = bytes.subspan(part.size());
    left_ -= static_cast<std::uint32_t>(part.size());
    if (is_macros_ && !take_macros(part)) return false;
  }
  return true;
}

// A length that is not a positive 32-bit number means a packet without content, for libmilter too.
void PacketCheck::begin_packet(unsigned char command) noexcept {
  constexpr std::uint32_t kLargest = std::numeric_limits<std::int32_t>::max();
  left_ = length_ == 0 || length_ - 1 > kLargest ? 0 : length_ - 1;
  length_ = 0;
  have_ = 0;
  is_macros_ = command == 'D';
  has_stage_ = false;
  is_odd_ = false;
}

bool PacketCheck::take_macros(std::span<const unsigned char> bytes) noexcept {
  if (!has_stage_) {
    bytes = bytes.subspan(1);
    has_stage_ = true;
  }
  if (std::ranges::count(bytes, 0) % 2 != 0) is_odd_ = !is_odd_;
  return left_ > 0 || !is_odd_;
}

}  // namespace bloomgate
