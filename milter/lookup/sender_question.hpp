// What a program asks of a sender, and what it is told: plain values. Safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomgate {

struct SenderQuestion {
  std::string_view sender;          // as it came; may be no address
  std::string_view recipient = {};  // empty: none was named
};

// Never a permission: whether the sender is who he says he is, nobody here can know. Everything that is neither, a
// fault of a list included, is `neither`, so that the asker goes on as without us.
enum class SenderStanding : std::uint8_t {
  neither,
  listed,   // a message that is proven to be his is delivered
  revoked,  // the operator's list `revoked` has him
};

// "listed", "revoked"; empty for `neither`. Never fails.
std::string_view standing_name(SenderStanding standing) noexcept;

// The key of a request: an address, or `SENDER > RECIPIENT`, which is cut at its last ` > `.
SenderQuestion sender_question(std::string_view key) noexcept;

}  // namespace bloomgate
