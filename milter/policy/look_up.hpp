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

// The name of the exact list in a decision.
inline constexpr std::string_view kExtraName = "extra";

// Some of a message's recipients, by their index.
using RecipientSet = std::bitset<kMostPairRecipients>;

// The values for `reason` and `list` of a decision: a listing, or why there is none. A sender that no available list
// has is not listed; the reason is then that of the first list that was not available.
struct Listing {
  bool is_listed = false;
  Reason reason = Reason::not_listed;
  std::string_view list = {};  // "extra", or the name of the whitelist that lists the sender or has the fault
  // If an entry of a domain or a mailing list lists the sender: that entry, without its signer.
  FixedText<kMaxKeyBytes> entry = {};
  // What the store said about the sender, if that settled the matter.
  std::optional<Confirmation> confirmation = {};
  // Set if the listing is a hit of the bits for which the facts have no reply of this store yet.
  std::optional<StoreQuestion> question = {};
  Draws draws = {};
  ForRecipients for_recipients = {};
  RecipientSet listed_for = {};  // these recipients are counted in for_recipients
  AddressProfile profile = {};   // the rule by which the list treats two addresses as one mailbox
};

// `path` is the sender as it arrived; each whitelist's own key is made from it. `entry` is the same sender with case
// folded and tags kept. Asks the exact list first, then the whitelists in their order, and stops at the first that has
// the sender. If a store has to confirm a hit, the store's reply in `facts` decides. A store that could not answer is a
// fault of its whitelist; one that was not asked yet provisionally confirms every hit.
Listing look_up(const Lists& lists, const Facts& facts, std::string_view path, const Entry& entry,
                Trace* trace) noexcept;

// The same, but only by domain entries for the domain of an address; these are exact.
Listing look_up_domain(const Lists& lists, const Entry& address, Trace* trace) noexcept;

// The same for a mailing list, only by entries of mailing lists; the reason is listed-mailing-list.
Listing look_up_mailing_list(const Lists& lists, const Entry& list, Trace* trace) noexcept;

// The same for an address or a mailing list together with that canonical signer domain, by entries that name the
// signer; the reason is listed-with-signer. They are exact, too. `path` is the address as it arrived.
Listing look_up_with_signer(const Lists& lists, std::string_view path, const Entry& entry, std::string_view signer,
                            Trace* trace) noexcept;

// Why a sender is listed, or not, if its hit has that confirmation.
Reason reason_of(Confirmation confirmation) noexcept;

// The fault of the lists, if none of them could list a sender.
std::optional<Listing> find_fault(const Lists& lists) noexcept;

// What starts a tag for the list `extra`: the separators that all whitelists share.
TagSeparators separators_of_extra(const Lists& lists) noexcept;

// If two spellings are one mailbox by this profile, they are for each whitelist.
AddressProfile common_profile(const Lists& lists) noexcept;

// If two spellings are one mailbox for any whitelist, they are by this profile.
AddressProfile widest_profile(const Lists& lists) noexcept;

// What starts a tag for the list `revoked`: '+', and the separators of all whitelists.
TagSeparators separators_of_revoked(const Lists& lists) noexcept;

}  // namespace bloomgate
