// Under which key the brake counts a message. Pure; safe from any thread.
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
  FixedText<kMaxKeyBytes> address = {};  // the sender's address if another key lists it; empty for a mailing list
  bool is_shared = false;                // see CountedMessage
};

// Returns the key for a message that the lists deliver: the sender's address without a tag, in a form that covers all
// spellings that a whitelist could treat as the same; or the entry of the domain or mailing list that lists the sender.
// If both senders count, the key is that of the From mailbox.
CountedSender counted_sender(const Facts& facts, const Decision& decision, const Lists& lists,
                             const Policy& policy) noexcept;

}  // namespace bloomgate
