// What a program asks about a sender, and the answer: plain values. Safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomgate {

struct SenderQuestion {
  std::string_view sender;          // as received; may be an invalid address
  std::string_view recipient = {};  // empty: none was named
};

// The answer is never a permission: this look-up cannot know whether a message is really from the sender. In all other
// cases, including a fault of a list, the answer is `neither`, so that the program continues as without Bloomgate.
enum class SenderStanding : std::uint8_t {
  neither,
  listed,   // a message that is proven to be the sender's is delivered
  revoked,  // the operator's list `revoked` has the sender
};

// "listed", "revoked"; empty for `neither`. Never fails.
std::string_view standing_name(SenderStanding standing) noexcept;

// Reads the key of a request: an address, or `SENDER > RECIPIENT`, which is split at its last ` > `.
SenderQuestion sender_question(std::string_view key) noexcept;

}  // namespace bloomgate
