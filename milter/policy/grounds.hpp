// What a message itself offers as grounds for authentication results: SPF can be about the domain of its envelope
// sender, DKIM about the domains that its DKIM-Signature fields name, DMARC about a domain that is aligned with either.
// Collected by the daemon, one message after the other; asked by Authentication::summarize().
//
// A trusted field may hold results that its writer never found (result_forgery.hpp says how). This is the second lock:
// a pass without grounds does not count. A sender may lay grounds for another's domain, by a signature or an envelope
// sender, but then the honest milters write a fail for it, which contradicts the pass.
//
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "milter/policy/authentication_results.hpp"
#include "milter/policy/header_from.hpp"

namespace bloomgate {

class Grounds {
 public:
  // With more signatures than this the results are misleading: no honest mail has as many.
  static constexpr std::size_t kMaxSignatures = 64;

  // A new message. `helo` is the name in the greeting, empty if it is not known; `path` is that of the MAIL command.
  // Throws std::bad_alloc; clear() must follow then.
  void begin(std::string_view helo, std::string_view path);

  // The value of a DKIM-Signature field, of which the one domain is kept. Throws as begin() does.
  void add_signature(std::string_view value);

  void clear() noexcept;

  // Whether anything in the message, or in `from`, can forge results: then no result counts.
  bool is_misleading(const HeaderFrom& from) const noexcept;

  // Whether a pass of that method can be about that canonical domain. For dkim the domain may also be below that of a
  // signature, since some milters write only the signature's identity. True for methods that this class knows nothing
  // about.
  bool support(AuthenticationMethod method, std::string_view domain) const noexcept;

 private:
  std::string sender_domain_;
  std::vector<std::string> signed_domains_;  // one for each signature at most, of kMaxDomainBytes at most
  std::size_t signatures_ = 0;
  bool misleading_ = false;
};

}  // namespace bloomgate
