// Whether an authenticated domain speaks for the domain of an address, that is, which domain may sign for which other
// one.
//
// A domain above another one, in the same organisation, belongs to that organisation's owner. A domain below or beside
// it may belong to someone to whom the owner gives names: `student.bank.example` is not `bank.example`, and
// `evil.onmicrosoft.com` is not `contoso.onmicrosoft.com`. DMARC treats these as one (RFC 9989 section 4.4), unless the
// owner forbids it.
//
// For `relaxed`, this is the upper bound that needs no look-up. DMARC records can make an organisation smaller than the
// Public Suffix List does, never larger: milter/dkim/tree_walk.hpp says how, and OwnerRule holds the result.
//
// The Public Suffix List says where an organisation begins. The newer one of the system's file and of libpsl's own list
// is read once, at the first call. All domains are canonical, as canonicalize_domain() writes them: lower-case A-labels
// without a trailing dot, or an address literal. Otherwise pure; noexcept, safe from any thread; takes a fraction of a
// microsecond.
#pragma once

#include <string_view>

#include "config/policy_choices.hpp"

namespace bloomgate {

// Whether `domain` is `parent` or below it.
bool is_same_or_below(std::string_view domain, std::string_view parent) noexcept;

// Whether `domain` is below `parent`, in the same organisation: it speaks for `parent` only under `relaxed`.
bool is_child(std::string_view domain, std::string_view parent) noexcept;

// The public suffix and one label: `example.co.uk` for `mail.example.co.uk`. A view into `domain`. Empty if there is
// none: for a public suffix itself, a name of one label, an address literal, and text that is too long for a domain.
std::string_view organizational_domain(std::string_view domain) noexcept;

// Whether `one` speaks for `other`. Equal domains always do, empty ones never. Other domains need the same
// organisational domain. Under `relaxed` the order does not matter.
bool aligned(std::string_view one, std::string_view other, Alignment alignment) noexcept;

}  // namespace bloomgate
