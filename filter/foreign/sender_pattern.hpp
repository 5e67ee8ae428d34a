// What a pattern of senders in another program's list means as an entry of ours. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bloomgate {

// What stands between the words of a line.
inline constexpr std::string_view kBlanks = " \t\r\v\f";

// How much of what the pattern means the entry lists.
enum class Width : std::uint8_t {
  same,
  with_domain,  // also the domain itself, where the pattern has only those below it
  with_below,   // also all below the domain, where the text names the domain alone
  narrower,     // not names that just end alike: `*example.org` is also `not-example.org`
};

struct SenderEntry {
  std::string text;  // "@.example.org", as it stands in a list; empty: there is none
  Width width = Width::same;
  std::string_view fault = {};  // why there is none: a sentence without a full stop
};

// A pattern that is held against a whole address, in which `*` stands for any characters and `?` for one: an address,
// `*@example.org`, `*@*.example.org`, `*.example.org`, `*example.org`. Of all others there is no entry.
SenderEntry entry_of_glob(std::string_view pattern);

// An address, or `@` and a domain, as it is: none of the other forms that a list of ours has.
SenderEntry entry_of_text(std::string text);

// The entry, where that domain signs.
SenderEntry signed_by(SenderEntry entry, std::string_view signer);

// A domain, without an `@`: of what is one, the entry for it, and with `below` also for those below it.
SenderEntry entry_of_domain(std::string_view domain, bool below);

// An address of a host or of a network, or a number of one.
bool is_network(std::string_view text) noexcept;

}  // namespace bloomgate
