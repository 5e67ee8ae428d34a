// Why a message of a listed and proven sender is checked all the same: what the brake says (milter/brake), the fact
// that a decision to deliver is followed by. Plain values; safe from any thread.
#pragma once

#include <cstdint>

namespace bloomgate {

enum class Hold : std::uint8_t {
  none,
  burst,      // the sender sends much more than it has until now
  replay,     // the same message has come too often
  suspended,  // mail of the sender was spam
};

}  // namespace bloomgate
