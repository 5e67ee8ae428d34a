// Whether a domain that was authenticated speaks for the domain of an address: who may sign for whom.
//
// A domain above another one, of the same organisation, is its owner's. One below it, or beside it, may be anybody's to
// whom the owner gives names: `student.bank.example` is not `bank.example`, and `evil.onmicrosoft.com` is not
// `contoso.onmicrosoft.com`. DMARC takes these for one another (RFC 9989 section 4.4), if the owner does not forbid it.
//
// Of `relaxed` this is the upper bound that needs no look-up. DMARC records can make an organisation smaller than the
// Public Suffix List does, never larger: milter/dkim/tree_walk.hpp says how, and OwnerRule what was found.
//
// The Public Suffix List says where an organisation begins: the newer one of the system's file and of libpsl's own,
// read once, at the first question. All domains are canonical, as canonicalize_domain() writes them: lower-case
// A-labels without a trailing dot, or an address literal. Pure but for that, noexcept, safe from any thread; a fraction
// of a microsecond.
#pragma once

#include <string_view>

#include "config/policy_choices.hpp"

namespace bloomgate {

// Whether `domain` is `parent` or in it.
bool is_same_or_below(std::string_view domain, std::string_view parent) noexcept;

// Whether `domain` is a name below `parent`, in the same organisation: it speaks for `parent` only under `relaxed`.
bool is_child(std::string_view domain, std::string_view parent) noexcept;

// The public suffix and one label: `example.co.uk` for `mail.example.co.uk`. A view into `domain`. Empty if there is
// none: for a public suffix itself, a name of one label, an address literal, and text that is longer than a domain can
// be.
std::string_view organizational_domain(std::string_view domain) noexcept;

// Whether `one` speaks for `other`. Equal domains always do, empty ones never. Others need the same organisational
// domain. Of `relaxed` the order does not matter.
bool aligned(std::string_view one, std::string_view other, Alignment alignment) noexcept;

}  // namespace bloomgate
