// What an operator can choose about the decision, one enumeration for each such option. Plain values:
// daemon_options.hpp holds the chosen ones; the policy and the signature verifier follow them.
#pragma once

#include <cstdint>

#include "config/enum_words.hpp"

namespace bloomgate {

enum class IdentityRule : std::uint8_t {
  envelope,     // the envelope sender has to be listed
  header_from,  // the mailbox of the From field
  either,       // one of them; mailing services use their own envelope senders
  both,         // each of them
};
template <>
inline constexpr auto kWordsOf<IdentityRule> = enum_words<IdentityRule>({{IdentityRule::envelope, "envelope"},
                                                                         {IdentityRule::header_from, "header-from"},
                                                                         {IdentityRule::either, "either"},
                                                                         {IdentityRule::both, "both"}});

enum class AuthenticationRule : std::uint8_t {
  required,   // a listed identity counts if a trusted field says that it is authenticated
  preferred,  // also if no trusted field says anything about it: see decide.hpp
  off,        // always; anyone can forge it
};
template <>
inline constexpr auto kWordsOf<AuthenticationRule> =
    enum_words<AuthenticationRule>({{AuthenticationRule::required, "required"},
                                    {AuthenticationRule::preferred, "preferred"},
                                    {AuthenticationRule::off, "off"}});

// Which domain may sign for which other domain: see milter/fields/alignment.hpp.
enum class Alignment : std::uint8_t {
  parent,   // `example.org` speaks for itself and for `news.example.org`
  strict,   // only for itself
  relaxed,  // `news.example.org` speaks for `example.org` and for `shop.example.org`, too
};
template <>
inline constexpr auto kWordsOf<Alignment> = enum_words<Alignment>(
    {{Alignment::parent, "parent"}, {Alignment::strict, "strict"}, {Alignment::relaxed, "relaxed"}});

// What an SPF pass for the envelope sender proves. The pass proves that the domain's owner allowed this server to send,
// and nothing about the local part: another user of the same provider, or another customer of the same service, passes
// as well.
enum class SpfProves : std::uint8_t {
  domain,   // the domain: an entry for a whole domain counts
  address,  // the exact address: an entry for one address, a pair or a learned entry counts, too
  no,       // nothing
};
template <>
inline constexpr auto kWordsOf<SpfProves> =
    enum_words<SpfProves>({{SpfProves::domain, "domain"}, {SpfProves::address, "address"}, {SpfProves::no, "no"}});

enum class ExemptAction : std::uint8_t {
  none,     // the message gets no mark
  deliver,  // it is marked `deliver`
};
template <>
inline constexpr auto kWordsOf<ExemptAction> =
    enum_words<ExemptAction>({{ExemptAction::none, "none"}, {ExemptAction::deliver, "deliver"}});

}  // namespace bloomgate
