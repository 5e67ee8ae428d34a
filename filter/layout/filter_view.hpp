// A filter in memory, wherever it came from: the shape of the bit array, and look-ups in it and beside it.
//
// Addresses are in the bits, which also say "listed" for some addresses that are not: one look-up for a sender,
// whatever its domain. Domain entries (`@domain`, `@.domain`) are kept exactly, as hashes of 64 bits: a sender has up
// to 129 keys to look up among them (its domain has up to 255 octets and so 128 labels), and a false positive there
// would open a whole domain. With n domain entries and a hash that is even over 2^64, the probability that one of those
// keys meets the hash of another entry is at most n * 129 / 2^64 (union bound): below 7e-10 for n = 10^8, once in more
// than 10^9 senders. An attacker cannot choose such a domain: the hash is seeded, each build draws a new seed at
// random, and only readers of the file know it.
//
// Pairs (pair.hpp) are kept in the same way: pairs of addresses in the bits, the others among the domain entries. They
// are looked up only if the file says that it holds such pairs. One recipient costs one more look-up in the bits, and
// up to 323 among the domain entries, whatever domain the sender has. With n domain entries, the probability that one
// of these meets the hash of another entry is at most n * 323 / 2^64, below 2e-9 for n = 10^8.
//
// Mailing lists, and entries with a signer (signer.hpp), are kept exactly, among the domain entries. A mailing list
// costs up to 17 look-ups, and each signer of a message up to 18. Signers are looked up only if the file says that it
// holds entries with one.
//
// With the section `sender-domains` (filter/domains/sender_domains.hpp), an entry of the bits is listed only if that
// section also has the sender's domain. The bits are read first: most non-members end there, as without the section.
//
// Excluded senders whose bits are all set are kept exactly, too. They are looked up only after such a hit, and are not
// listed.
//
// A view owns nothing: the bytes must outlive it. Look-ups are const, noexcept, allocate nothing and may run in any
// number of threads at once; layout.hpp says what memory each one touches. MappedFilter makes views; tests and the
// builder make them over their own arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/address/kinds_held.hpp"
#include "filter/base/fixed_text.hpp"
#include "filter/domains/sender_domain.hpp"
#include "filter/domains/sender_domains.hpp"
#include "filter/layout/filter_shape.hpp"
#include "filter/layout/layout.hpp"
#include "filter/layout/sorted_hashes.hpp"

namespace bloomgate {

// The kind of entry that lists an address or a mailing list.
enum class Match : std::uint8_t {
  none,               // not listed
  address,            // an address by itself
  domain,             // by `@domain`
  domain_tree,        // by `@.domain` of its domain or one above it
  mailing_list,       // a mailing list by itself
  mailing_list_tree,  // by `list:*.host` of a host above it
  with_signer,        // an entry with a signer: itself, or a wider one with that signer
};

// "not-listed", "address", "domain", "domain-tree", "mailing-list", "mailing-list-tree", "with-signer".
std::string_view match_name(Match match) noexcept;

// For an entry that is kept exactly and was found by its own key.
Match match_of(EntryKind kind) noexcept;

// The entry that lists an address or a mailing list: the most specific one found.
struct FoundEntry {
  Match match = Match::none;
  // For a domain entry and for mailing lists: the domain that was looked up, or one above it. Points into the text that
  // was looked up.
  std::string_view domain = {};
  // All its bits are set, but it is an excluded sender: only a domain entry can list it.
  bool is_excluded = false;

  bool is_listed() const noexcept { return match != Match::none; }
  // The entry in the form that a list has: "@partner.example", "list:*.lists.example". Empty for addresses and signers.
  FixedText<kMaxKeyBytes> domain_entry() const noexcept;
};

// The entry that lists a mailing list, itself or by a host above it, among the keys for which `contains(key)` holds.
template <typename Contains>
FoundEntry find_mailing_list(std::string_view list, Contains contains) noexcept {
  for (const EntryForms::Form& form : EntryForms(list)) {
    if (form.prefix.empty() && contains(list)) {
      return {Match::mailing_list, list.substr(kMailingListPrefix.size())};
    }
    FixedText<kMaxKeyBytes> key;
    key.append(form.prefix);
    key.append(form.rest);
    if (contains(key.view())) return {Match::mailing_list_tree, form.rest};
  }
  return {};
}

// The pair that lists an address for a recipient: the most specific one found.
struct FoundPair {
  PairKey key = {};  // of the pair; empty if it is not listed
  // All bits of the pair of addresses are set, but it is an excluded sender.
  bool is_excluded = false;

  bool is_listed() const noexcept { return !key.view().empty(); }
};

class FilterView {
 public:
  // `body` must be block_count * block_bytes long, and validate_shape() in file_format.hpp must accept the shape.
  // `domains` are the hashes of the domain entries' keys, as hash_of_domain() makes them; `excluded` are the first
  // values (LayoutRules::values_of) of excluded senders; `kinds` says which pairs there are; `sender_domains` are the
  // domains of all entries in the bits, or there is no such section.
  FilterView(const FilterShape& shape, std::span<const std::byte> body, SortedHashes domains = {},
             SortedHashes excluded = {}, KindsHeld kinds = {}, SenderDomains sender_domains = {}) noexcept
      : shape_(shape),
        body_(body),
        domains_(domains),
        excluded_(excluded),
        kinds_(kinds),
        sender_domains_(sender_domains),
        rules_(&layout_rules(shape.layout)) {}

  const FilterShape& shape() const noexcept { return shape_; }
  // The bit array.
  std::span<const std::byte> body() const noexcept { return body_; }
  const SortedHashes& domains() const noexcept { return domains_; }
  const SortedHashes& excluded() const noexcept { return excluded_; }
  const SenderDomains& sender_domains() const noexcept { return sender_domains_; }
  // The same filter without its sender domains, to measure the bits alone.
  FilterView without_sender_domains() const noexcept {
    FilterView view = *this;
    view.sender_domains_ = {};
    return view;
  }
  // Whether a look-up for a recipient, or with a signer, could find anything.
  bool holds_pairs() const noexcept { return kinds_.any_pairs(); }
  bool holds_domain_pairs() const noexcept { return kinds_.domain_pairs; }
  bool holds_signers() const noexcept { return kinds_.signers; }

  // Whether the key of an address may be an entry: all its bits are set, its sender's domain is there, and it is not
  // excluded. False is certain; true is wrong at the false-positive rate. If the sender domains are there, true is
  // wrong only for a sender at one of them.
  bool may_contain(std::string_view key) const noexcept { return look_up(key) == Hit::listed; }

  // Whether all bits of the key are set, although it is an excluded sender and not an entry.
  bool is_excluded(std::string_view key) const noexcept { return look_up(key) == Hit::excluded; }

  // The number of the domain of an address, or of a pair's sender, for a look-up among the sender domains.
  DomainNumber sender_domain_number(std::string_view key) const noexcept {
    return domain_number(hash_of_domain(shape_, sender_domain_of(key)));
  }

  // Whether the domain allows that the sender of an address, or of a pair of addresses, has an entry in the bits. True
  // if the sender domains are not there.
  bool may_hold_domain_of(std::string_view key) const noexcept {
    return !sender_domains_.is_there() || sender_domains_.contains(sender_domain_number(key));
  }

  // Whether an entry has this key of its neighbours (neighbours.hpp). False if the sender domains are not there.
  bool has_neighbours(std::string_view neighbours_key) const noexcept {
    return sender_domains_.is_there() &&
           sender_domains_.contains(domain_number(hash_of_domain(shape_, neighbours_key)));
  }

  // Whether it is the first value of an excluded sender. Ask only about values whose bits are all set.
  bool excludes(std::uint64_t first_value) const noexcept {
    return !excluded_.empty() && excluded_.contains(first_value);
  }

  // Whether the key of a domain entry is in the filter.
  bool contains_domain(std::string_view key) const noexcept { return domains_.contains(hash_of_domain(shape_, key)); }

  // The entry that lists `entry`. An address takes one look-up in the bits, and after a hit one among the excluded
  // senders; if the filter has domain entries, also one among these for `@domain` and one for each label of the domain.
  // A mailing list takes one look-up, and one for each host above it. An entry with a signer takes as many as
  // find_with_signer(). Domain entries and `list:*.host` are looked up by their own key alone. Anything else is not
  // listed; for pairs, call find_pair(). `entry` must have been made with shape().profile, and outlive the result.
  FoundEntry find(const Entry& entry) const noexcept;

  // The same for an address whose own key was not found: whether its domain lists it. `domain_key` is the tail of the
  // address's key, from the '@', and must outlive the result.
  FoundEntry find_by_domain(std::string_view domain_key) const noexcept;

  // The key of the entry that lists an address or a mailing list if the canonical domain `signer` has signed the
  // message; empty if there is none. The key of an address must have been made with shape().profile. At most
  // kMostEntryForms look-ups, if the filter has such entries.
  SignerKey find_with_signer(std::string_view key, std::string_view signer) const noexcept;

  // The pair that lists an address or a mailing list for one recipient. (find() says whether it is listed for all
  // recipients.) The keys of addresses are made with shape().profile. It takes one look-up in the bits, if the filter
  // has pairs of addresses, and after a hit one among the excluded senders. If the filter has pairs with domains, it
  // also takes one among the domain entries for each form of the sender with each form of the recipient
  // (find_wider_pair).
  FoundPair find_pair(std::string_view sender, std::string_view recipient) const noexcept;

  // The same for a pair whose own key was not found.
  FoundPair find_wider_pair(std::string_view sender, std::string_view recipient) const noexcept;

  // How many bits of the body are 1; in the layout counting, how many counters are not 0. Reads all of it.
  std::uint64_t count_ones() const noexcept;

 private:
  enum class Hit : std::uint8_t { none, listed, excluded };

  Hit look_up(std::string_view key) const noexcept {
    std::array<std::uint64_t, kMaxHashes> values;
    rules_->values_of(shape_, key, values.data());
    if (!rules_->has_bits(shape_, body_.data(), values.data()) || !may_hold_domain_of(key)) return Hit::none;
    return excludes(values[0]) ? Hit::excluded : Hit::listed;
  }

  FilterShape shape_;
  std::span<const std::byte> body_;
  SortedHashes domains_;
  SortedHashes excluded_;
  KindsHeld kinds_;
  SenderDomains sender_domains_;
  const LayoutRules* rules_;
};

}  // namespace bloomgate
