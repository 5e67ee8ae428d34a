// Which of the lists has a sender: the third part of decide(). Pure, noexcept; allocates nothing for ASCII except for
// the trace. Safe from any thread.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include "filter/base/fixed_text.hpp"
#include "milter/policy/decision.hpp"
#include "milter/policy/facts.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

class Trace;

// What a decision calls the exact list.
inline constexpr std::string_view kExtraName = "extra";

// Some of a message's recipients, by their places.
using RecipientSet = std::bitset<kMostPairRecipients>;

// What `reason` and `list` of a decision say: a listing, or why there is none. A sender that no available list has is
// not listed; the reason is then that of the first list that was not available.
struct Listing {
  bool is_listed = false;
  Reason reason = Reason::not_listed;
  std::string_view list = {};  // "extra", or the name of the whitelist that lists the sender or has the fault
  // Where it is a domain entry or that of a mailing list that lists the sender: that one, without its signer.
  FixedText<kMaxKeyBytes> entry = {};
  // What the store said of the sender, where that settled the matter.
  std::optional<Confirmation> confirmation = {};
  // The listing is a hit of the bits, for which the facts have no reply of this store yet.
  std::optional<StoreQuestion> question = {};
  Draws draws = {};
  ForRecipients for_recipients = {};
  RecipientSet listed_for = {};  // as in for_recipients
  AddressProfile profile = {};   // by which the list takes two addresses for one mailbox
};

// `path` is the sender as it came; each whitelist's own key is made from it. `entry` is the same sender with case
// folded and tags kept. Asks the exact list first, then the whitelists in their order, and stops at the first that has
// the sender. A hit that a store has to confirm counts as `facts` have the store's reply; a store that cannot tell is a
// fault of its whitelist, and one that was not asked yet confirms everything for now.
Listing look_up(const Lists& lists, const Facts& facts, std::string_view path, const Entry& entry,
                Trace* trace) noexcept;

// The same for the domain of an address alone: by entries of domains, which are exact.
Listing look_up_domain(const Lists& lists, const Entry& address, Trace* trace) noexcept;

// The same for a mailing list, by entries of mailing lists alone; listed-mailing-list.
Listing look_up_mailing_list(const Lists& lists, const Entry& list, Trace* trace) noexcept;

// The same for an address or a mailing list where that canonical domain has signed, by entries that name it;
// listed-with-signer. They are exact, too. `path` is the address as it came.
Listing look_up_with_signer(const Lists& lists, std::string_view path, const Entry& entry, std::string_view signer,
                            Trace* trace) noexcept;

// Why a sender is listed, or not, whose hit has that confirmation.
Reason reason_of(Confirmation confirmation) noexcept;

// The fault of the lists, if none of them could list anybody.
std::optional<Listing> find_fault(const Lists& lists) noexcept;

// What starts a tag for the list `extra`: the separators that all whitelists have.
TagSeparators separators_of_extra(const Lists& lists) noexcept;

// Two spellings of one mailbox by this are that for each whitelist.
AddressProfile common_profile(const Lists& lists) noexcept;

// Two spellings of one mailbox for any whitelist are that by this.
AddressProfile widest_profile(const Lists& lists) noexcept;

// What starts a tag for the list `revoked`: '+', and the separators of all whitelists.
TagSeparators separators_of_revoked(const Lists& lists) noexcept;

}  // namespace bloomgate
