// Whose messages the brake counts one with. Pure; safe from any thread.
#pragma once

#include "filter/address/limits.hpp"
#include "filter/base/fixed_text.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

struct CountedSender {
  FixedText<kMaxKeyBytes> key = {};
  FixedText<kMaxKeyBytes> address = {};  // of the sender, where another key lists it; empty of a mailing list
  bool is_shared = false;                // see CountedMessage
};

// Of a message that is delivered by the lists: its address without a tag, in any form that a whitelist could take for
// another spelling of it; or the entry of a domain or of a mailing list that lists it. If both senders count, it is the
// From mailbox.
CountedSender counted_sender(const Facts& facts, const Decision& decision, const Lists& lists,
                             const Policy& policy) noexcept;

}  // namespace bloomgate
