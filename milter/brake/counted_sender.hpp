// Under which names the brake knows the sender and the recipients of a message. Safe from any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/limits.hpp"
#include "filter/address/tag_separators.hpp"
#include "filter/base/fixed_text.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"
#include "milter/policy/policy.hpp"

namespace bloomgate {

struct CountedSender {
  using Key = FixedText<kMaxKeyBytes>;

  Key key = {};
  Key address = {};        // the sender's address, or the mailing list, if another key lists it
  bool is_shared = false;  // see CountedMessage
  // A suspension of one of these holds the message, too. Each may be empty.
  Key tagged = {};  // the counted sender with all tags but those after '+', as a person may have suspended it
  Key from = {};    // the From mailbox, if the envelope sender or a mailing list is counted

  // All of them; some may be empty.
  std::array<std::string_view, 4> names() const noexcept {
    return {key.view(), address.view(), tagged.view(), from.view()};
  }
};

// Returns the key for a message that the lists deliver: the sender's address without a tag, in a form that covers all
// spellings that a whitelist could treat as the same; or the entry of the domain or mailing list that lists the sender.
// The sender is the one that the decision proves. If a signature proves the envelope sender together with the From
// mailbox (ProofOf::covered_from), that is the From mailbox: a person who sends a signed message again can choose
// another envelope sender. If the From mailbox has an entry of its own then, that counts. Pure.
CountedSender counted_sender(const Facts& facts, const Decision& decision, const Lists& lists,
                             const Policy& policy) noexcept;

struct CountedUsers {
  std::vector<std::string> names = {};  // canonical addresses, with and without what may be a tag
  bool are_all_known = true;            // false: the message may be for any user
};

// The users that are the recipients of a message. Pure; throws std::bad_alloc.
CountedUsers users_of(std::span<const std::string_view> recipients, bool are_too_many, TagSeparators delimiter);

// The user that a recipient most likely is, for counting different ones; `path` itself if it is not an address.
std::string counted_recipient(std::string_view path, TagSeparators delimiter);

}  // namespace bloomgate
