// Whether a sender or a mailing list has a neighbour among the entries of the lists, or is an entry itself, for any
// recipient: filter/domains/neighbours.hpp. This determines what has to be verified for a message, rather than who is
// listed. A whitelist that does not keep its neighbours keys has no neighbours. Part of decide(). Pure, noexcept;
// allocates nothing; safe from any thread. Costs a probe or two of each list, and none of the bits; up to
// kMostEntryForms probes if lists have pairs with domains, mailing lists or signers.
#pragma once

#include <string_view>

#include "filter/address/address.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

// `sender` is an address or a mailing list; anything else has no neighbours.
bool have_neighbours(const Lists& lists, const Entry& sender) noexcept;

// The same for entries with that signer, which must be canonical.
bool have_neighbours_with_signer(const Lists& lists, const Entry& sender, std::string_view signer) noexcept;

}  // namespace bloomgate
