// Which domain entries list more senders than whoever wrote them may have meant: public suffixes, below which anybody
// can have a domain, and free-mail domains, in which anybody can have an address. `bloomgate build` warns of them.
//
// Immutable once made; safe from any thread. The public suffixes are those of the Public Suffix List in the version
// that libpsl was built with; the free-mail domains are the operator's, in a file.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"

namespace bloomgate::cli {

inline constexpr const char* kFreeMailDomainsFile = "/etc/bloomgate/free-mail-domains.txt";

enum class Breadth : std::uint8_t { usual, public_suffix, free_mail };

// "@.co.uk is a public suffix: …", without a stop. For an entry that is not usual.
std::string breadth_text(Breadth breadth, std::string_view key);

class BroadDomains {
 public:
  BroadDomains() = default;  // no free-mail domains

  // Reads the free-mail domains: a domain a line, with or without '@' in front; '#' starts a comment. A line that is
  // none is left out and shown with its place: a whitelist is not held up for a slip in there. Throws
  // BloomgateError{cannot_open, cannot_read}.
  BroadDomains(const std::string& path, const std::function<void(std::string_view)>& show);

  // Entries that are no domains are usual. About a microsecond.
  Breadth of(const Entry& entry) const noexcept;

 private:
  std::set<std::string, std::less<>> free_mail_;
};

}  // namespace bloomgate::cli
