// The part after the '@': host names, internationalised or not, and address literals, and their canonical forms. Used
// by address.cpp and the daemon's policy. Pure; safe from any thread.
//
// Sources: RFC 5321 section 4.1.3 (address literals), RFC 1035 section 2.3.4 (limits), RFC 5891 and UTS #46,
// non-transitional (internationalised names).
#pragma once

#include <string_view>

#include "filter/address/limits.hpp"
#include "filter/address/reject_reason.hpp"
#include "filter/base/fixed_text.hpp"

namespace bloomgate {

using Domain = FixedText<kMaxDomainBytes>;

// Appends the canonical form of a host name to the empty `out`: lower-case, A-labels, no trailing dot. If there is no
// such form, returns the reason: too_long above kMaxInputBytes. Allocates only for names that are not ASCII.
RejectReason canonicalize_host_name(std::string_view text, Domain& out) noexcept;

// The same for a host name or an address literal in its brackets: `[192.0.2.1]` or `[ipv6:2001:db8::1]`.
RejectReason canonicalize_domain(std::string_view text, Domain& out) noexcept;

// Whether a canonical local part is a wildcard. An address with such a local part is that of no mailbox.
constexpr bool is_wildcard(std::string_view local_part) noexcept {
  return local_part == "*" || local_part == "%";
}

// Wildcards as other programs write them, `*@example.org`, `%@example.org`, `*.example.org`, and the domain entries
// that their writers mean. For lists only: a message may really have such a sender.
struct Wildcard {
  std::string_view prefix;  // of the domain entry, "@" or "@."; empty if the text is no wildcard
  Domain domain;
};

// `word` is the first word of an entry, with angle brackets or without.
Wildcard read_wildcard(std::string_view word) noexcept;

}  // namespace bloomgate
