// The look-ups of DMARC records for one message, from its header on: whether another domain that has signed is of the
// same organisation as a sender's domain, whose owner lets such domains sign. tree_walk.hpp has the rule (RFC 9989
// section 4.10). Used by one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/signature_choice.hpp"
#include "milter/fields/signatures.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {

class OwnerQuestions {
 public:
  // Starts the look-ups, and does not wait: of the senders' domains for which another domain signs, and of these
  // signers, as far as the candidate is worth verifying. Only with Alignment::relaxed does anything depend on an owner.
  //
  // At most kMaxWalkNames for each domain, and each name once. A signer shares at least the two last names with a
  // sender. So 2 senders and 4 signers have at most 2 * 8 + 4 * 6 = 40 names, all of them of the senders' organisations
  // or above these: an attacker cannot choose another zone that is asked.
  //
  // `resolver` must outlive the object. Throws std::bad_alloc.
  OwnerQuestions(Resolver& resolver, const SignatureChoice& choice, Alignment alignment);

  // The rules of the domains for which only another domain's signature passed: on those of others nothing depends. One
  // for each such signer. Waits for them until `deadline`. Throws std::bad_alloc.
  std::vector<OwnerRule> rules(const SignatureChoice& verified, Resolver::Clock::time_point deadline);

 private:
  void start(std::string_view domain);

  Resolver& resolver_;
  std::vector<std::string> domains_;  // the senders' whose owners have a say
  std::map<std::string, std::shared_ptr<Resolver::Lookup>, std::less<>> lookups_;  // of a domain's record
};

}  // namespace bloomgate
