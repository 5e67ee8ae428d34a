// What an operator chooses of the decision, one enumeration for each such option. Plain values: daemon_options.hpp has
// what was chosen, the policy and the verifier of signatures go by it.
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

// Who may sign for whom: see milter/fields/alignment.hpp.
enum class Alignment : std::uint8_t {
  parent,   // `example.org` speaks for itself and for `news.example.org`
  strict,   // only for itself
  relaxed,  // `news.example.org` speaks for `example.org` and for `shop.example.org`, too
};
template <>
inline constexpr auto kWordsOf<Alignment> = enum_words<Alignment>(
    {{Alignment::parent, "parent"}, {Alignment::strict, "strict"}, {Alignment::relaxed, "relaxed"}});

// What a pass of SPF for the envelope sender proves. It proves that the domain's owner let this server send, and
// nothing about the local part: a neighbour at the same provider, or another customer of the same service, passes as
// well.
enum class SpfProves : std::uint8_t {
  domain,   // the domain: what is listed by its domain counts
  address,  // the very address: also what is listed by itself, as a pair or as learned
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
