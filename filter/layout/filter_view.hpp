// A filter in memory, wherever it came from: the shape of the bit array, and look-ups in it and beside it.
//
// Addresses are in the bits, which say "listed" of some that are not: one look-up for a sender, whatever its domain.
// Domain entries (`@domain`, `@.domain`) are kept exactly, as hashes of 64 bits: a sender has up to 129 keys to look up
// among them (its domain has up to 255 octets and so 128 labels), and a false positive there would open a whole domain.
// With n domain entries and a hash that is even over 2^64, one of those keys meets an entry that it is not with a
// probability of at most n * 129 / 2^64 (union bound): below 7e-10 for n = 10^8, once in more than 10^9 senders. Nobody
// can choose a domain that does, since the hash is seeded, and the seed is drawn for each build and known to nobody who
// cannot read the file.
//
// Pairs (pair.hpp) are kept in the same way: pairs of addresses in the bits, the others among the domain entries. They
// are asked only where the file says that it holds such pairs. One recipient costs one more look-up in the bits, and up
// to 323 among the domain entries, whatever domains a stranger has: so with n domain entries one of these meets an
// entry that it is not with a probability of at most n * 323 / 2^64, below 2e-9 for n = 10^8.
//
// Mailing lists, and entries with a signer (signer.hpp), are kept exactly, among the domain entries. A mailing list
// costs up to 17 look-ups, and each signer of a message up to 18. Signers are asked about only where the file says that
// it holds entries with one.
//
// With the section `sender-domains` (filter/domains/sender_domains.hpp), what the bits hold is listed only where that
// section has the sender's domain, too. The bits are read first: most strangers end there, as without the section.
//
// Known strangers whose bits are all set are kept exactly, too, and asked after such a hit only: they are not listed.
//
// A view owns nothing: the bytes must outlive it. Look-ups are const, noexcept, allocate nothing and may run in any
// number of threads at once; the layout says what each one touches (layout.hpp). MappedFilter makes views; tests and
// the builder make them over their own arrays.
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

// By which kind of entry an address or a mailing list is listed.
enum class Match : std::uint8_t {
  none,               // not listed
  address,            // an address by itself
  domain,             // by `@domain`
  domain_tree,        // by `@.domain` of its domain or one above it
  mailing_list,       // a mailing list by itself
  mailing_list_tree,  // by `list:*.host` of a host above it
  with_signer,        // an entry with a signer, by itself or by a wider one with that signer
};

// "not-listed", "address", "domain", "domain-tree", "mailing-list", "mailing-list-tree", "with-signer".
std::string_view match_name(Match match) noexcept;

// Of an entry that was found by its own key, and is kept exactly.
Match match_of(EntryKind kind) noexcept;

// The entry that lists an address or a mailing list: the most specific one found.
struct FoundEntry {
  Match match = Match::none;
  // Of a domain entry and of mailing lists: the domain, which is that of what was looked up, or one above it. Points
  // into that.
  std::string_view domain = {};
  // Its bits are all set, but it is a known stranger: only a domain entry can list it.
  bool is_excluded = false;

  bool is_listed() const noexcept { return match != Match::none; }
  // The entry as it stands in a list: "@partner.example", "list:*.lists.example". Empty for an address and a signer.
  FixedText<kMaxKeyBytes> domain_entry() const noexcept;
};

// How the key of a mailing list is listed, by itself or by a host above it, for whose key `contains(key)` holds.
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
  // The bits of the pair of addresses are all set, but it is a known stranger.
  bool is_excluded = false;

  bool is_listed() const noexcept { return !key.view().empty(); }
};

class FilterView {
 public:
  // `body` must be block_count * block_bytes long and the shape one that validate_shape() in file_format.hpp accepts.
  // `domains` are the hashes of the domain entries' keys, made as hash_of_domain() makes them; `excluded` are the first
  // values (LayoutRules::values_of) of known strangers; `kinds` says which pairs there are; `sender_domains` are those
  // of all that is in the bits, or are not there.
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
  // The same filter as its bits alone have it, to measure these.
  FilterView without_sender_domains() const noexcept {
    FilterView view = *this;
    view.sender_domains_ = {};
    return view;
  }
  // Whether any look-up for a recipient, or with a signer, could find anything.
  bool holds_pairs() const noexcept { return kinds_.any_pairs(); }
  bool holds_domain_pairs() const noexcept { return kinds_.domain_pairs; }
  bool holds_signers() const noexcept { return kinds_.signers; }

  // Whether the key of an address may be an entry: its bits are all set, its sender's domain is there, and it is no
  // known stranger. False is certain; true is wrong at the false-positive rate, and where the sender domains are there,
  // only of a sender at one of them.
  bool may_contain(std::string_view key) const noexcept { return look_up(key) == Hit::listed; }

  // Whether the key's bits are all set, and yet it is no entry.
  bool is_excluded(std::string_view key) const noexcept { return look_up(key) == Hit::excluded; }

  // The number by which the domain of an address, or of a pair's sender, is looked up among the sender domains.
  DomainNumber sender_domain_number(std::string_view key) const noexcept {
    return domain_number(hash_of_domain(shape_, sender_domain_of(key)));
  }

  // Whether the sender of an address or of a pair of addresses may have an entry in the bits, going by its domain: true
  // where the sender domains are not there.
  bool may_hold_domain_of(std::string_view key) const noexcept {
    return !sender_domains_.is_there() || sender_domains_.contains(sender_domain_number(key));
  }

  // Whether an entry has that key of its neighbours (neighbours.hpp): false where the sender domains are not there.
  bool has_neighbours(std::string_view neighbours_key) const noexcept {
    return sender_domains_.is_there() &&
           sender_domains_.contains(domain_number(hash_of_domain(shape_, neighbours_key)));
  }

  // Whether it is the first value of a known stranger. To be asked about values whose bits are all set.
  bool excludes(std::uint64_t first_value) const noexcept {
    return !excluded_.empty() && excluded_.contains(first_value);
  }

  // Whether the key of a domain entry is in the filter.
  bool contains_domain(std::string_view key) const noexcept { return domains_.contains(hash_of_domain(shape_, key)); }

  // How an address entry is listed. It takes one look-up in the bits for the address, and after a hit one among the
  // known strangers; and if the filter has domain entries, one among these for `@domain` and one for each label of the
  // domain. A mailing list takes one look-up, and one for each host above it; an entry with a signer as many as
  // find_with_signer(); domain entries and `list:*.host` are looked up as they are. Anything else is not listed, pairs
  // neither: see find_pair(). `entry` must have been made with shape().profile, and outlive the result.
  FoundEntry find(const Entry& entry) const noexcept;

  // The same for an address whose own key was not found: whether its domain lists it. `domain_key` is the tail of that
  // key, from the '@', and must outlive the result.
  FoundEntry find_by_domain(std::string_view domain_key) const noexcept;

  // The key of the entry that lists the key of an address, made with shape().profile, or of a mailing list where that
  // canonical domain has signed the message; empty if there is none. At most kMostEntryForms look-ups, if the filter
  // has such entries.
  SignerKey find_with_signer(std::string_view key, std::string_view signer) const noexcept;

  // How an address or a mailing list is listed for one recipient, by a pair; whether it is listed for everybody is for
  // find() to say. The keys of addresses are made with shape().profile. It takes one look-up in the bits, if the filter
  // has pairs of addresses, and after a hit one among the known strangers; and if it has pairs with domains, one among
  // the domain entries for each form of the sender with each form of the recipient (find_wider_pair).
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
