// Whom a message is for, as far as the daemon knows: a fact of a decision, for entries for one recipient (pairs). A
// plain value; the views must outlive it.
//
// A sender who is listed for each recipient that is known says nothing of one that is not: so nobody is listed by pairs
// unless all recipients are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bloomgate {

// More are too many for a look-up of each: so many a mail server has to take (RFC 5321, section 4.5.3.1.8), and each
// costs at most 2 senders times 324 look-ups in a whitelist.
inline constexpr std::size_t kMostPairRecipients = 100;

struct Recipients {
  enum class State : std::uint8_t {
    unknown,   // nobody has asked for them
    all,       // these are all
    too_many,  // more than could be kept, or one too long
  };

  State state = State::unknown;
  // As the RCPT commands gave them, without angle brackets, in their order. A later step of the mail server may have
  // refused some of them.
  std::span<const std::string_view> paths = {};

  bool are_known() const noexcept { return state == State::all && !paths.empty(); }
};

}  // namespace bloomgate
