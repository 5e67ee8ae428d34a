// Finds entries that list more senders than their writer may have meant: public suffixes, below which anybody can have
// a domain; free-mail domains, in which anybody can have an address; signers that sign for anybody, such as services
// that send mail for their customers; and mailing lists that their host may not sign. `bloomgate build` and
// `bloomgate-milter add` warn of them.
//
// Immutable after its constructor; safe from any thread. The public suffixes are those of the system's Public Suffix
// List, or of the one that libpsl was built with, if that is newer. The operator's files have the free-mail domains and
// the shared signers.
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
  // The signer of an entry is a service's domain, a public suffix or a free-mail domain.
  shared_signer,
  public_suffix_signer,
  free_mail_signer,
  dotless,  // a domain of one label: intended if the local network has such names, otherwise cut short
};

// "@.co.uk is a public suffix: …", without a full stop. The entry must not be a usual one.
std::string breadth_text(Breadth breadth, std::string_view key);

inline constexpr std::size_t kBreadths = 8;

// How many entries have each breadth, without the usual ones.
struct BroadCounts {
  std::array<std::uint64_t, kBreadths> counts = {};

  void add(Breadth breadth) noexcept { counts[static_cast<std::size_t>(breadth)] += breadth != Breadth::usual ? 1 : 0; }
  BroadCounts& operator+=(const BroadCounts& more) noexcept;

  std::uint64_t of(Breadth breadth) const noexcept { return counts[static_cast<std::size_t>(breadth)]; }
  std::uint64_t shared_signers() const noexcept;  // of any of the three kinds
  std::uint64_t sum() const noexcept;
};

// The operator's files, as named on the command line; empty: the default files.
struct BroadFiles {
  std::string free_mail_domains = {};
  std::string shared_signers = {};
};

// Whether it is the whole domain of an organisation, and not a part of one: it is one label below a public suffix.
// `domain` must be in lower case, in A-labels.
bool is_organizational_domain(std::string_view domain) noexcept;

class BroadDomains {
 public:
  using Show = std::function<void(std::string_view)>;

  BroadDomains() = default;  // no free-mail domains, no shared signers

  // Reads these files; an empty path stands for an empty file. One domain per line, with or without '@' before it; '#'
  // starts a comment. A shared signer with a dot before it stands for all hosts below it, too. A line that is not a
  // domain is ignored and shown with its line number: a mistake there must not stop a build. Throws
  // BloomgateError{cannot_open, cannot_read}.
  BroadDomains(const BroadFiles& files, const Show& show);

  // The breadth of an entry. An entry without a domain of its own and without a signer is usual. For a pair, the
  // sender's side counts. Takes about a microsecond.
  Breadth of(const Entry& entry) const noexcept;

  // The breadth of an address, or of a pair whose sender is an address: dotless or usual.
  static Breadth of_address(EntryKind kind, std::string_view key) noexcept;

 private:
  using Keys = std::set<std::string, std::less<>>;

  Breadth of_signer(std::string_view signer, std::string_view entry) const noexcept;
  Breadth of_key(std::string_view key) const noexcept;

  Keys free_mail_;       // domains
  Keys shared_signers_;  // keys of domain entries
};

// Those of `files`. If no file is at the default path, there are none: the operator has removed it. Throws as
// BroadDomains().
BroadDomains usual_broad_domains(BroadFiles files, const BroadDomains::Show& show);

}  // namespace bloomgate
