// What the message itself shows that results of authentication can be about: SPF about the domain of its envelope
// sender, DKIM about the domains that its DKIM-Signature fields name, DMARC about one that is aligned with either.
// Collected by the daemon, one message after the other; asked by Authentication::summarize().
//
// A trusted field may hold results that its writer never found (result_forgery.hpp says how). Here is the second lock:
// a pass without grounds does not count, and who lays the grounds for another's domain, by a signature or an envelope
// sender, has the honest milters' fail beside it, which contradicts the pass.
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
  // With more signatures than these the results are misleading: nobody's mail is that way.
  static constexpr std::size_t kMaxSignatures = 64;

  // A new message. `helo` is the name in the greeting, empty where it is not known; `path` that of the MAIL command.
  // Throws std::bad_alloc; clear() must follow then.
  void begin(std::string_view helo, std::string_view path);

  // The value of a DKIM-Signature field. Throws as begin() does.
  void add_signature(std::string_view value);

  void clear() noexcept;

  // Whether anything of it, or of `from`, can forge results: then none counts.
  bool is_misleading(const HeaderFrom& from) const noexcept;

  // Whether a pass of that method can be about that canonical domain. Of dkim, one that names a domain below that of a
  // signature too: some write the signature's identity alone. True of the methods of which nothing is known here.
  bool support(AuthenticationMethod method, std::string_view domain) const noexcept;

 private:
  std::string sender_domain_;
  std::vector<std::string> signed_domains_;
  std::size_t signatures_ = 0;
  bool misleading_ = false;
};

}  // namespace bloomgate
