// An exact set of entries, for the operator's short lists beside the filter: `revoked` (never delivered, whatever the
// filter says), `extra` (counts as listed) and `opt-out` (recipients whose mail is always checked). Entries are written
// as in the builder's lists: addresses, `@domain` and `@.domain`; for senders also mailing lists, entries with a
// signer, and pairs for one recipient.
//
// Immutable once read; safe from any thread. Look-ups are noexcept and allocate nothing for ASCII. They compare whole
// keys, so there are no false positives. A million entries of 20 octets take some 30 MB.
//
// Case: keys have their case folded and their tags kept, whatever the profile of a filter. A sender gets that form
// before the look-up, so a revoked sender cannot avoid its entry by capitals.
//
// Tags: `joe+x@` and `joe@` are different entries; find() with separators looks for both. For `revoked` and `opt-out`,
// pass '+' and every separator of the filters. Otherwise, if a whitelist has `@example.org`, the sender
// `joe+1@example.org` avoids the entry `joe@example.org`. For `extra`, pass only the separators of the filters. The
// entry to look for must still have its tag, or an entry `joe+x@` in the list is never found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/layout/filter_view.hpp"

namespace bloomgate {

class ExactList {
 public:
  ExactList() = default;  // empty

  // How an address is listed: by itself, with or without its tag; else by its domain; else by an entry `@.domain` for
  // its domain or one above it. A mailing list is listed by itself, or by a host above it. Domain entries and entries
  // with a signer are looked up literally. Anything else is not listed.
  // `entry` must outlive the result. Cost: one probe of a table for the address, one for the domain and one for each of
  // its labels; about 100 ns each if the list is larger than the processor's cache.
  FoundEntry find(const Entry& entry, TagSeparators separators = {}) const noexcept;

  // The same for an address, but only by entries for its domain.
  FoundEntry find_by_domain(const Entry& address) const noexcept;

  // The key of the entry that lists an address or a mailing list together with that canonical signer domain; empty if
  // there is none. Separators as in find(). At most 2 * kMostEntryForms probes, if the list has such entries.
  SignerKey find_with_signer(const Entry& entry, std::string_view signer, TagSeparators separators) const noexcept;

  // Whether exactly this entry is in the list, rather than whether the list covers it. Tags count, case does not.
  bool has(const Entry& entry) const noexcept;

  // Whether any pair has this address or mailing list as its sender, by itself or by its domain. Separators as in
  // find(). Costs at most 2 * kMostEntryForms probes; a call before find_pair() saves nearly every sender the look-ups
  // there.
  bool has_pairs_of(const Entry& sender, TagSeparators separators) const noexcept;

  // The pair that lists an address or a mailing list for a recipient, an address: the most specific one, with or
  // without the tags of both. Costs at most 4 * kMostEntryForms^2 probes.
  FoundPair find_pair(const Entry& sender, const Entry& recipient, TagSeparators sender_separators,
                      TagSeparators recipient_separators) const noexcept;

  // Whether any entry has that neighbours key (filter/domains/neighbours.hpp). One probe.
  bool has_neighbours(std::string_view neighbours_key) const noexcept;

  // The entries that list or cover a sender, an address or a mailing list, only under a condition: with a signer, or
  // for a recipient. As a list writes them, sorted. Separators as in find(). Reads the whole list, for a person who
  // asks; throws std::bad_alloc.
  std::vector<std::string> conditional_entries(const Entry& sender, TagSeparators separators) const;

  bool holds_pairs() const noexcept { return has_pairs_; }
  bool holds_signers() const noexcept { return has_signers_; }

  std::size_t size() const noexcept { return size_; }  // different entries
  std::size_t memory_bytes() const noexcept { return keys_.capacity() + slots_.capacity() * sizeof(slots_[0]); }

 private:
  friend class ExactListReader;

  bool contains(std::string_view key) const noexcept;
  // The slot that holds `key`, or the empty one for it.
  std::size_t slot_of(std::string_view key) const noexcept;
  std::string_view key_at(std::uint32_t offset) const noexcept;

  // For each key: two bytes of length, then the key; a filler byte before the first. For each pair there is also a key
  // of the part before its recipient, and for each entry its neighbours key: neither is the key of an entry.
  std::string keys_;
  std::vector<std::uint32_t> slots_;  // offsets in keys_, 0: none; open addressing, a power of two, at most half full
  std::uint64_t seed_ = 0;
  std::size_t size_ = 0;
  bool has_domains_ = false;
  bool has_trees_ = false;
  bool has_pairs_ = false;
  bool has_signers_ = false;
};

// What the entries of a list stand for.
enum class ListOf : std::uint8_t { senders, recipients };

// Why a valid entry does not belong in such a list, and what to write instead, for a person; empty: it does belong.
// Throws std::bad_alloc.
std::string misplaced_text(const Entry& entry, ListOf of);

struct BadLine {
  std::uint64_t number = 0;                  // from 1
  RejectReason reason = RejectReason::none;  // none: the entry is valid but misplaced
  std::string text;                          // the reason, for a person
};

// The result of reading a text.
struct ExactListReading {
  static constexpr std::size_t kMostBadLines = 20;  // that are stored

  ExactList list;
  std::uint64_t bad_line_count = 0;
  std::vector<BadLine> bad_lines;  // the first ones
  // The first bad line with bytes that no text has: NUL and the like, or invalid UTF-8. A person who mistypes an entry
  // writes none of these; a file that was overwritten with something else contains them. 0: there is none.
  std::uint64_t spoiled_line = 0;
};

// Reads a list: one entry per line, in the forms of canonicalize_list_line(), in any order, duplicates allowed. An
// invalid line, or one with a misplaced entry, is skipped and reported. Throws std::bad_alloc, and
// BloomgateError{bad_input} for keys of 4 GiB. Takes about 0.3 µs per line. The list also contains `beside`: so a list
// can be made from several texts, each with its own report of lines.
ExactListReading read_exact_list(std::string_view text, ListOf of = ListOf::senders, ExactList beside = {});

}  // namespace bloomgate
