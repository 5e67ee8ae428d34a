// Finds domain entries that list more senders than their writer may have meant: public suffixes, below which anybody
// can have a domain, and free-mail domains, in which anybody can have an address. `bloomgate build` warns of them.
//
// Immutable once made; safe from any thread. The public suffixes are those of the Public Suffix List, in the version
// that libpsl was built with. The free-mail domains are in a file of the operator's.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"

namespace bloomgate::cli {

enum class Breadth : std::uint8_t { usual, public_suffix, free_mail };

// "@.co.uk is a public suffix: …", without a full stop. The entry must not be a usual one.
std::string breadth_text(Breadth breadth, std::string_view key);

class BroadDomains {
 public:
  BroadDomains() = default;  // no free-mail domains

  // Reads the free-mail domains: one domain per line, with or without '@' before it; '#' starts a comment. A line that
  // is not a domain is left out and shown with its place: a mistake there must not stop a build. Throws
  // BloomgateError{cannot_open, cannot_read}.
  BroadDomains(const std::string& path, const std::function<void(std::string_view)>& show);

  // Entries that are not domains are usual. Of a pair, the sender's side counts. Takes about a microsecond.
  Breadth of(const Entry& entry) const noexcept;

 private:
  std::set<std::string, std::less<>> free_mail_;
};

// Those of the file at `path`; of the usual one, if `path` is empty. Without a file at the usual place there are none:
// somebody has removed it. Throws as BroadDomains().
BroadDomains usual_broad_domains(const std::string& path, const std::function<void(std::string_view)>& show);

}  // namespace bloomgate::cli
