// From text to canonical key: the one canonicaliser. The builder uses it on every line of a list and the daemon on
// every sender, so that both always agree.
//
// Two spellings of the same mailbox give the same key: `<Joe.Doe@EXAMPLE.org.>`, `"joe.doe"@example.org` and
// `joe.doe@example.org` are one, and so are `joe@müller.example` and `joe@xn--mller-kva.example`. Text that is not a
// mailbox is rejected with a named reason. Mail servers accept more senders than RFC 5321 allows. If Postfix and
// Sendmail read such a sender alike, it is a mailbox (`j..doe@example.org`, a long local part, a hyphen at the end of a
// label). If they read it differently (`a@b@example.org`, `a b@example.org`), or if they remove a part of it
// (`joe(x)@example.org`), it is rejected.
//
// Nothing here throws, logs or reads anything but its argument; any number of threads may call it. ASCII input needs no
// allocation; a plain address takes some 30 ns. The time is linear in the length, which is limited to kMaxInputBytes:
// half a millisecond at worst, for 2 KiB of Unicode.
//
// Beyond ASCII, an address may only have characters that identifier.hpp allows. So an invisible character, such as a
// zero-width space or a direction mark, never gives a key of its own: the text is rejected, and the reason names the
// character.
//
// A key, written as a line of a list, gives the same key again. For a pair, entry_text() is the text that does so. In a
// list, an address that starts with '#' needs angle brackets, because without them the line is a comment. A list may
// not have `*@domain` or `%@domain`, because their writer means the domain.
//
// libunistring and libidn2 define which characters exist, and their cases. If a list has characters that are newer
// than the daemon's libraries, build it with the same libraries.
//
// Sources: RFC 5321 sections 4.1.2 (grammar), 4.1.3 (address literals), 4.5.3.1 (limits); RFC 6531 section 3.3 (UTF-8
// local parts); RFC 8264 section 9 (their characters); RFC 5891 and UTS #46, non-transitional (domains); Unicode 3.13
// (full case folding).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "filter/address/address_profile.hpp"
#include "filter/address/limits.hpp"
#include "filter/address/pair.hpp"
#include "filter/address/reject_reason.hpp"
#include "filter/address/signer.hpp"

namespace bloomgate {

enum class EntryKind : std::uint8_t {
  rejected,           // not an entry; reason() says why
  blank,              // list lines only: nothing but space, or a comment
  null_sender,        // `<>`: a bounce; never an entry of a list
  address,            // local-part@domain
  domain,             // list lines only: `@domain`, every address in exactly that domain
  domain_tree,        // list lines only: `@.domain`, every address in that domain and in all below it
  mailing_list,       // lists only, like all below: `list:host`, the mailing list with that List-Id
  mailing_list_tree,  // `list:*.host`, every mailing list below that host
  with_signer,        // one of the five above, signed by a domain that the entry names: signer.hpp
  pair,               // an address, for one recipient
  domain_pair,        // any other pair: one with a domain entry or a mailing list
};

// Whether entries of that kind go into the bits of a filter. A filter keeps the entries of all other kinds exactly.
constexpr bool goes_into_bits(EntryKind kind) noexcept {
  return kind == EntryKind::address || kind == EntryKind::pair;
}

inline constexpr std::size_t kMaxEntryKeyBytes = std::max(kMaxPairKeyBytes, kMaxSignerKeyBytes);

// The result for a path or a line. It holds its key in place: it allocates nothing, and the views below are valid as
// long as the object lives.
class Entry {
 public:
  EntryKind kind() const noexcept { return kind_; }
  RejectReason reason() const noexcept { return reason_; }
  // For a rejected entry: the character at fault, or 0 if it is not known; and the entry that the writer means, in the
  // form that a list has, or empty if it is not known.
  char32_t character() const noexcept { return character_; }
  std::string_view suggestion() const noexcept { return {bytes_.data(), suggestion_size_}; }
  bool is_key() const noexcept { return kind_ >= EntryKind::address; }
  bool is_pair() const noexcept { return kind_ >= EntryKind::pair; }

  // The canonical bytes: `local@domain`, `@domain`, `@.domain`, `list:host` or `list:*.host`; one of these and its
  // signer (signer.hpp), or a pair of them (pair.hpp). Empty unless is_key().
  std::string_view key() const noexcept { return {bytes_.data(), size_}; }
  // The canonical local part, with quotes only where it needs them; empty unless kind() is address.
  std::string_view local_part() const noexcept {
    return {bytes_.data(), kind_ == EntryKind::address ? domain_at_ - std::size_t{1} : 0};
  }
  // The canonical domain: lower-case A-labels without a trailing dot, or an address literal in its brackets. For a
  // mailing list, the host that its key names. Empty for a pair and for an entry with a signer.
  std::string_view domain() const noexcept { return key().substr(is_key() ? domain_at_ : 0); }

 private:
  friend class EntryWriter;
  // Deliberately not zeroed: the first size_ bytes are the key, the rest is never read.
  std::array<char, kMaxEntryKeyBytes> bytes_;
  std::uint16_t size_ = 0;
  std::uint16_t domain_at_ = 0;  // where the domain starts in the key
  EntryKind kind_ = EntryKind::rejected;
  RejectReason reason_ = RejectReason::none;
  std::uint16_t suggestion_size_ = 0;
  char32_t character_ = 0;
};

// Why an entry is rejected, for a person: "there is an invisible character, such as …: U+200B (ZERO WIDTH SPACE); type
// the entry again". Throws std::bad_alloc.
std::string reject_text(const Entry& entry);

// An envelope path as an MTA gives it: `<a@b>`, `<>`, `a@b`, `<@relay:a@b>`, `<a@b> SIZE=1`. ESMTP parameters after a
// space are ignored. The result is an address, null_sender or rejected.
Entry canonicalize_path(std::string_view path, AddressProfile profile = {}) noexcept;

// A line with or without its line end: an address (with or without angle brackets; with them also after a
// display name, `Anna <anna@example.org>`), `@domain`, `@.domain`, a blank line, or a comment (`#` first, or after
// space). A byte-order mark at its start and surrounding space are skipped.
Entry canonicalize_line(std::string_view line, AddressProfile profile = {}) noexcept;

// A line of a list. It may be any of the above, and
// - `list:host` and `list:*.host`;
// - each of these and of the entries above with ` signed-by domain` behind it;
// - `sender > recipient`, with a space on each side of the '>'. The sender is an entry as above or a mailing list, the
//   recipient an entry as above. Both sides follow the same profile: a tag of a sender is also a tag of a recipient.
Entry canonicalize_list_line(std::string_view line, AddressProfile profile = {}) noexcept;

// Makes a pair of two such texts, without line ends and byte-order marks. The result is of kind pair or domain_pair,
// blank if both texts are blank, or rejected.
Entry canonicalize_pair(std::string_view sender, std::string_view recipient, AddressProfile profile = {}) noexcept;

}  // namespace bloomgate
