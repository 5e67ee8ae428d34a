// The look-ups of DMARC records for one message, started at the end of its header. They show whether another domain
// that has signed belongs to the same organisation as a sender's domain, and whether that domain's owner lets it sign.
// tree_walk.hpp has the rule (RFC 9989 section 4.10). Used by one thread at a time.
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
  // Starts the look-ups, and does not wait for them. It looks up the senders' domains for which another domain signs,
  // and these signers if their signature is worth verifying. Only under Alignment::relaxed does anything depend on an
  // owner.
  //
  // Each domain causes at most kMaxWalkNames look-ups, and each name is looked up once. A signer shares at least its
  // last two names with a sender. So 2 senders and 4 signers have at most 2 * 8 + 4 * 6 = 40 names, all of them of the
  // senders' organisations or above these: an attacker cannot choose another zone that is asked.
  //
  // `resolver` must outlive the object. Throws std::bad_alloc.
  OwnerQuestions(Resolver& resolver, const SignatureChoice& choice, Alignment alignment);

  // Returns the rules of the sender domains for which only another domain's signature passed, one for each such signer;
  // the rules of other domains do not matter. Waits for the answers until `deadline`. Throws std::bad_alloc.
  std::vector<OwnerRule> rules(const SignatureChoice& verified, Resolver::Clock::time_point deadline);

 private:
  void start(std::string_view domain);

  Resolver& resolver_;
  std::vector<std::string> domains_;  // the senders' domains whose owners are asked
  std::map<std::string, std::shared_ptr<Resolver::Lookup>, std::less<>> lookups_;  // of a domain's DMARC record
};

}  // namespace bloomgate
