// Converts a pattern of senders from another program's list into an entry of ours. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomgate {

// The characters that separate the words of a line.
inline constexpr std::string_view kBlanks = " \t\r\v\f";

// If the entry lists more or fewer senders than the pattern.
enum class Width : std::uint8_t {
  same,
  with_domain,  // also the domain itself; the pattern matches its subdomains only
  with_below,   // also the subdomains; the text names the domain only
  narrower,     // not other names with that end: `*example.org` also matches `not-example.org`
  by_dmarc,     // the same, but the other program finds this name by one of its rules only
};
inline constexpr std::size_t kWidths = 5;

struct SenderEntry {
  std::string text;  // "@.example.org", a line of a list; empty: the pattern has no entry
  Width width = Width::same;
  std::string_view fault = {};  // why the pattern has no entry: a sentence without a full stop
};

// The pattern matches whole addresses; `*` matches any characters, and `?` matches one. These have an entry: an
// address, `*@example.org`, `*@*.example.org`, `*.example.org` and `*example.org`. All other patterns have none.
SenderEntry entry_of_glob(std::string_view pattern);

// The text is an address, or `@` and a domain. Other forms of entries are refused.
SenderEntry entry_of_text(std::string text);

// The entry with ` signed-by ` and that domain, if there is a signer.
SenderEntry signed_by(SenderEntry entry, std::string_view signer);

// `domain` has no `@`. With `below` the entry includes the subdomains.
SenderEntry entry_of_domain(std::string_view domain, bool below);

// The senders that a pattern without an entry may match, widely: those at a domain, or at each name with that end.
struct PatternReach {
  std::string domain;      // in lower case; empty: every domain
  bool is_suffix = false;  // each name that ends so: `*.ru`, `*example.net`
};
PatternReach reach_of_glob(std::string_view pattern);

// Whether the text is the network address of a host or of a network.
bool is_network(std::string_view text) noexcept;

}  // namespace bloomgate
