// Whether an authenticated domain speaks for the domain of an address (RFC 7489 section 3.1): it is the same domain or,
// if the policy is relaxed, one of the same organisation. Called by the summary of the authentication results.
//
// The Public Suffix List defines the organisation, in the version that libpsl was built with: no file is read, no name
// is looked up. All domains are canonical, as canonicalize_domain() writes them: lower-case A-labels without a trailing
// dot, or an address literal. Pure, noexcept, safe from any thread; a fraction of a microsecond.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomgate {

enum class Alignment : std::uint8_t {
  relaxed,  // `news.example.org` speaks for `example.org` and for `shop.example.org`
  strict,   // only for itself
};

// Whether `domain` is `parent` or in it.
bool is_same_or_below(std::string_view domain, std::string_view parent) noexcept;

// The public suffix and one label: `example.co.uk` for `mail.example.co.uk`. A view into `domain`. Empty if there is
// none: for a public suffix itself, a name of one label, an address literal, and text that is longer than a domain can
// be.
std::string_view organizational_domain(std::string_view domain) noexcept;

// Equal domains are always aligned, empty ones never. Others need the same organisational domain.
bool aligned(std::string_view one, std::string_view other, Alignment alignment) noexcept;

}  // namespace bloomgate
