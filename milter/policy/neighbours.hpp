// Whether a sender or a mailing list has a neighbour among the entries of the lists, or is one itself, for whichever
// recipient: filter/domains/neighbours.hpp. What has to be verified of a message follows from this, and not from who is
// listed. A whitelist that does not keep its neighbours' keys has none. Part of decide(). Pure, noexcept; allocates
// nothing; safe from any thread. A probe or two of each list, and of no bits; up to kMostEntryForms where lists have
// pairs with domains, mailing lists or signers.
#pragma once

#include <string_view>

#include "filter/address/address.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

// `sender` is an address or a mailing list; anything else has none.
bool have_neighbours(const Lists& lists, const Entry& sender) noexcept;

// The same for entries with that signer, which must be canonical.
bool have_neighbours_with_signer(const Lists& lists, const Entry& sender, std::string_view signer) noexcept;

}  // namespace bloomgate
