// The key that an entry shares with its neighbours: the senders and mailing lists that an attacker could use in each
// other's place. Queries to name servers, and the response time, must not show the attacker which neighbour is listed.
// So lists keep these keys, too, and the daemon treats each neighbour of a listed sender like that sender. Shared by
// the builder and by everything that looks neighbours up. Pure; safe from any thread.
//
//   joe@example.org, also as the sender of a pair    @example.org
//   @example.org > ann@ours.example                  `@example.org`, and the separator of the two sides of a pair
//   @.example.org > ann@ours.example                 `@.example.org`, and that separator
//   joe@example.org signed-by esp.example            @example.org signed-by esp.example
//   list:news.lists.example, also in a pair          list:*.lists.example
//   list:news.lists.example signed-by esp.example    list:*.lists.example signed-by esp.example
//
// Any other entry lists all of its neighbours itself, and has no such key.
#pragma once

#include <algorithm>
#include <string_view>

#include "filter/address/entry_forms.hpp"
#include "filter/address/list_id.hpp"
#include "filter/address/pair.hpp"
#include "filter/address/signer.hpp"

namespace bloomgate {

using NeighboursKey = SignerKey;

namespace neighbours {

inline constexpr bool lists_all(std::string_view key) noexcept {
  return key.starts_with('@') || key.starts_with(kMailingListTreePrefix);
}

// `key` must be that of an address or of a mailing list.
inline NeighboursKey key_without_name(std::string_view key) noexcept {
  NeighboursKey result;
  if (is_mailing_list_key(key)) {
    result.append(kMailingListTreePrefix);
    result.append(list_host(key.substr(kMailingListPrefix.size())));
  } else {
    result.append(key.substr(key.rfind('@')));
  }
  return result;
}

}  // namespace neighbours

// For the key of any entry; empty if that entry has no such key.
inline NeighboursKey neighbours_key(std::string_view key) noexcept {
  NeighboursKey result;
  if (is_pair_key(key)) {
    const std::string_view sender = sides_of_pair(key).sender;
    if (!neighbours::lists_all(sender)) return neighbours::key_without_name(sender);
    result.append(sender);
    if (sender.starts_with('@')) result.append(kPairSeparator);
  } else if (is_signer_key(key)) {
    const SignerSides sides = sides_of_signer_key(key);
    if (neighbours::lists_all(sides.entry)) return {};
    result = neighbours::key_without_name(sides.entry);
    result.append(kSignerSign);
    result.append(sides.signer);
  } else if (!neighbours::lists_all(key)) {
    result = neighbours::key_without_name(key);
  }
  return result;
}

// Whether an address or a mailing list, given by its key, has a neighbour among the entries whose neighbours' keys
// `contains` finds, or is one of these entries itself. Asks once about an address, and at most kMostEntryForms times
// about a mailing list or if there may be pairs with domains.
template <typename Contains>
bool has_neighbours(std::string_view key, bool has_domain_pairs, Contains contains) noexcept {
  const bool is_list = is_mailing_list_key(key);
  if (!is_list && contains(key.substr(key.rfind('@')))) return true;
  if (!is_list && !has_domain_pairs) return false;
  const EntryForms forms(key);
  return std::any_of(forms.begin() + 1, forms.end(), [&](const EntryForms::Form& form) {
    NeighboursKey wider;
    wider.append(form.prefix);
    wider.append(form.rest);
    if (!is_list) wider.append(kPairSeparator);
    return contains(wider.view());
  });
}

// The same for entries with that signer. `signer` must be canonical.
template <typename Contains>
bool has_neighbours_with_signer(std::string_view key, std::string_view signer, Contains contains) noexcept {
  return !find_with_signer(key, signer, contains).view().empty();
}

}  // namespace bloomgate
