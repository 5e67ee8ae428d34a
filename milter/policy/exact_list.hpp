// An exact set of entries, for the operator's short lists beside the filter: `revoked` (never delivered, whatever the
// filter says), `extra` (counts as listed) and `opt-out` (recipients whose mail is always checked). All entries of the
// builder's lists, written as there: addresses, `@domain` and `@.domain`; of senders also mailing lists, these with a
// signer, and pairs for one recipient.
//
// Immutable once read; safe from any thread. Look-ups are noexcept and allocate nothing for ASCII. They compare whole
// keys, so there are no false positives. A million entries of 20 octets take some 30 MB.
//
// Case: keys have their case folded and their tags kept, whatever the profile of a filter. A sender gets that form
// before the look-up, so that a revoked sender cannot avoid its entry by capitals.
//
// Tags: `joe+x@` and `joe@` are different entries; find() with separators looks for both. For `revoked` and `opt-out`,
// give it '+' and every separator of the filters. Otherwise, if a whitelist has `@example.org`, the sender
// `joe+1@example.org` avoids the entry `joe@example.org`. For `extra`, give it the separators of the filters and no
// more. The entry to look for must still have its tag, or an entry `joe+x@` in the list is never found.
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

  // How an address is listed: by itself, with or without its tag; else by its domain; else by its domain or one above
  // it as a tree. A mailing list is listed by itself, or by a host above it. Domain entries and those with a signer are
  // looked up as they are. Anything else is not listed.
  // `entry` must outlive the result. Cost: one probe of a table for the address, one for the domain and one for each of
  // its labels; some 100 ns each if the list is larger than the processor's cache.
  FoundEntry find(const Entry& entry, TagSeparators separators = {}) const noexcept;

  // The same for an address, by its domain alone.
  FoundEntry find_by_domain(const Entry& address) const noexcept;

  // The key of the entry that lists an address or a mailing list where that canonical domain has signed; empty if there
  // is none. Separators as in find(). At most 2 * kMostEntryForms probes, if the list has such entries.
  SignerKey find_with_signer(const Entry& entry, std::string_view signer, TagSeparators separators) const noexcept;

  // Whether exactly this entry is in the list, which is not whether the list covers it. Tags count, case does not.
  bool has(const Entry& entry) const noexcept;

  // Whether a pair has this address or mailing list as its sender, by itself or by its domain, for whichever recipient.
  // Separators as in find(). Costs at most 2 * kMostEntryForms probes; asked first, it spares nearly every sender the
  // look-ups of find_pair().
  bool has_pairs_of(const Entry& sender, TagSeparators separators) const noexcept;

  // The pair that lists an address or a mailing list for a recipient, an address: the most specific one, with or
  // without their tags. Costs at most 4 * kMostEntryForms^2 probes.
  FoundPair find_pair(const Entry& sender, const Entry& recipient, TagSeparators sender_separators,
                      TagSeparators recipient_separators) const noexcept;

  // Whether an entry has that key of its neighbours (filter/domains/neighbours.hpp). One probe.
  bool has_neighbours(std::string_view neighbours_key) const noexcept;

  bool holds_pairs() const noexcept { return has_pairs_; }
  bool holds_signers() const noexcept { return has_signers_; }

  std::size_t size() const noexcept { return size_; }  // different entries
  std::size_t memory_bytes() const noexcept { return keys_.capacity() + slots_.capacity() * sizeof(slots_[0]); }

 private:
  friend class ExactListReader;

  bool contains(std::string_view key) const noexcept;
  // The slot that holds `key`, or the empty one that it would be put in.
  std::size_t slot_of(std::string_view key) const noexcept;
  std::string_view key_at(std::uint32_t offset) const noexcept;

  // Each: two bytes of length, then the key; a filling byte before the first. Of each pair also what is before its
  // recipient, and of each entry what it shares with its neighbours: both are the key of no entry.
  std::string keys_;
  std::vector<std::uint32_t> slots_;  // places in keys_, 0 for none; open addressing, a power of two, at most half full
  std::uint64_t seed_ = 0;
  std::size_t size_ = 0;
  bool has_domains_ = false;
  bool has_trees_ = false;
  bool has_pairs_ = false;
  bool has_signers_ = false;
};

// What the entries of a list are.
enum class ListOf : std::uint8_t { senders, recipients };

// Why a good entry does not belong in such a list, and what to write instead, for a person; empty: it does. Throws
// std::bad_alloc.
std::string misplaced_text(const Entry& entry, ListOf of);

struct BadLine {
  std::uint64_t number = 0;                  // from 1
  RejectReason reason = RejectReason::none;  // none: it is misplaced
  std::string text;                          // the reason, for a person
};

// The result of reading a text.
struct ExactListReading {
  static constexpr std::size_t kMostBadLines = 20;  // kept

  ExactList list;
  std::uint64_t bad_line_count = 0;
  std::vector<BadLine> bad_lines;  // the first ones
  // The first bad line with bytes that no text has: NUL and its like, or invalid UTF-8. Who mistypes an entry writes
  // none of these; a file that was overwritten with something else has them. 0: there is none.
  std::uint64_t spoiled_line = 0;
};

// Reads a list: one entry per line, in the forms of canonicalize_list_line(), in any order, duplicates allowed. A bad
// line, or one with a misplaced entry, is left out and reported. Throws std::bad_alloc, and BloomgateError{bad_input}
// for keys of 4 GiB. Takes some 0.3 µs per line. The list also has what is in `beside`: so one list is made of several
// texts, each with its own lines to report.
ExactListReading read_exact_list(std::string_view text, ListOf of = ListOf::senders, ExactList beside = {});

}  // namespace bloomgate
