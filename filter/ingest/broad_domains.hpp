// Finds entries that list more senders than their writer may have meant: public suffixes, below which anybody can have
// a domain; free-mail domains, in which anybody can have an address; and signers that sign for anybody, as services do
// that send mail for their customers; and mailing lists that their host may not sign. `bloomgate build` warns of them.
//
// Immutable once made; safe from any thread. The public suffixes are those of the system's Public Suffix List, or of
// the one that libpsl was built with, if that is newer. The free-mail domains and the shared signers are in files of
// the operator's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"

namespace bloomgate {

enum class Breadth : std::uint8_t {
  usual,
  public_suffix,
  free_mail,
  list_without_signer,  // a mailing list right below an organisation's domain, whose signature does not prove it
  // The signer of an entry: a service's domain, a public suffix, a free-mail domain.
  shared_signer,
  public_suffix_signer,
  free_mail_signer,
  dotless,  // a domain of one label: meant, where the own network has such names, or cut short
};

// "@.co.uk is a public suffix: …", without a full stop. The entry must not be a usual one.
std::string breadth_text(Breadth breadth, std::string_view key);

inline constexpr std::size_t kBreadths = 8;

// The entries of each breadth, counted, apart from the usual ones.
struct BroadCounts {
  std::array<std::uint64_t, kBreadths> counts = {};

  void add(Breadth breadth) noexcept { counts[static_cast<std::size_t>(breadth)] += breadth != Breadth::usual ? 1 : 0; }
  BroadCounts& operator+=(const BroadCounts& more) noexcept;

  std::uint64_t of(Breadth breadth) const noexcept { return counts[static_cast<std::size_t>(breadth)]; }
  std::uint64_t shared_signers() const noexcept;  // of any of the three kinds
  std::uint64_t sum() const noexcept;
};

// The operator's files, as named on the command line; empty: the usual ones.
struct BroadFiles {
  std::string free_mail_domains = {};
  std::string shared_signers = {};
};

// Whether an organisation has it, and no part of it alone: it is one label below a public suffix. `domain` is in lower
// case, in A-labels.
bool is_organizational_domain(std::string_view domain) noexcept;

class BroadDomains {
 public:
  using Show = std::function<void(std::string_view)>;

  BroadDomains() = default;  // no free-mail domains, no shared signers

  // Reads these files; with an empty path there are none. One domain per line, with or without '@' before it; '#'
  // starts a comment. A shared signer with a dot before it stands for all hosts below it, too. A line that is not a
  // domain is left out and shown with its place: a mistake there must not stop a build. Throws
  // BloomgateError{cannot_open, cannot_read}.
  BroadDomains(const BroadFiles& files, const Show& show);

  // An entry without a domain of its own and without a signer is usual. Of a pair, the sender's side counts. Takes
  // about a microsecond.
  Breadth of(const Entry& entry) const noexcept;

  // Of an address, or of a pair of which the sender is one: dotless or usual.
  static Breadth of_address(EntryKind kind, std::string_view key) noexcept;

 private:
  using Keys = std::set<std::string, std::less<>>;

  Breadth of_signer(std::string_view signer, std::string_view entry) const noexcept;
  Breadth of_key(std::string_view key) const noexcept;

  Keys free_mail_;       // domains
  Keys shared_signers_;  // keys of domain entries
};

// Those of `files`. Without a file at the usual place there are none: somebody has removed it. Throws as
// BroadDomains().
BroadDomains usual_broad_domains(BroadFiles files, const BroadDomains::Show& show);

}  // namespace bloomgate
