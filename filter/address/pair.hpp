// Entries for one recipient: pairs, `sender > recipient`, where each side is an address, `@domain` or `@.domain`; the
// sender may also be a mailing list. This file makes the key of a pair from the keys of its sides, and finds the pairs
// that could list a sender for a recipient. The builder and all look-ups of pairs share it. Pure; safe from any thread.
//
// The key is the two keys with a line feed between them. No key has a line feed, and none ever will, as lists and SMTP
// are both made of lines. So the key of a pair differs from that of every address and of every other pair.
//
// A look-up asks for each form of the sender (entry_forms.hpp) with each form of the recipient.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "filter/address/entry_forms.hpp"
#include "filter/address/limits.hpp"
#include "filter/base/fixed_text.hpp"

namespace bloomgate {

inline constexpr char kPairSeparator = '\n';
inline constexpr std::size_t kMaxPairKeyBytes = kMaxKeyBytes + 1 + kMaxKeyBytes;

using PairKey = FixedText<kMaxPairKeyBytes>;

// The keys of the two sides. The views are parts of the key.
struct PairSides {
  std::string_view sender;
  std::string_view recipient;
};

constexpr bool is_pair_key(std::string_view key) noexcept {
  return key.find(kPairSeparator) != std::string_view::npos;
}

// `key` must be that of a pair.
constexpr PairSides sides_of_pair(std::string_view key) noexcept {
  const std::size_t at = key.find(kPairSeparator);
  return {key.substr(0, at), key.substr(at + 1)};
}

// `sender` and `recipient` must be keys, at most kMaxKeyBytes each.
inline PairKey pair_key(std::string_view sender, std::string_view recipient) noexcept {
  PairKey key;
  key.append(sender);
  key.append(kPairSeparator);
  key.append(recipient);
  return key;
}

// An entry in the form that a list has: "joe@example.org > ann@ours.example" for a pair, the key itself for any other
// entry. Throws std::bad_alloc.
inline std::string entry_text(std::string_view key) {
  if (!is_pair_key(key)) return std::string(key);
  const PairSides sides = sides_of_pair(key);
  return std::string(sides.sender).append(" > ").append(sides.recipient);
}

// The key of the first pair for which `contains(key)` holds; empty if there is none. If `sender` is an address, the
// pair of `sender` and `recipient` themselves is not asked for, since it goes into the bits. Asks at most
// kMostEntryForms^2 - 1 = 323 times.
template <typename Contains>
PairKey find_wider_pair(std::string_view sender, std::string_view recipient, Contains contains) noexcept {
  const EntryForms senders(sender);
  const EntryForms recipients(recipient);
  const bool is_in_bits = !is_mailing_list_key(sender);
  for (const EntryForms::Form& from : senders) {
    for (const EntryForms::Form& to : recipients) {
      if (is_in_bits && &from == senders.begin() && &to == recipients.begin()) continue;
      PairKey key;
      key.append(from.prefix);
      key.append(from.rest);
      key.append(kPairSeparator);
      key.append(to.prefix);
      key.append(to.rest);
      if (contains(key.view())) return key;
    }
  }
  return {};
}

}  // namespace bloomgate
