// Why a message of a listed and proven sender is checked nevertheless: the answer of the brake (milter/brake), which is
// asked after a decision to deliver. Plain values; safe from any thread.
#pragma once

#include <cstdint>

namespace bloomgate {

enum class Hold : std::uint8_t {
  none,
  burst,      // the sender sends much more than before
  replay,     // the same message has come too often
  suspended,  // mail of the sender was spam
};

}  // namespace bloomgate
