// The look-ups of DMARC records for one message, from its header on: whether the owners of the wanted domains let other
// domains of their organisation sign. The record of the wanted domain itself decides; if there is none, that of its
// organisational domain (RFC 7489 section 6.6.3). Used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "milter/dkim/resolver.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "milter/policy/signatures.hpp"

namespace bloomgate {

class OwnerQuestions {
 public:
  // Starts the look-ups, at most two for each wanted domain, and does not wait: of the domains for which another domain
  // signs, as far as that candidate is worth verifying. Only with Alignment::relaxed does anything depend on an owner.
  // `resolver` must outlive the object. Throws std::bad_alloc.
  OwnerQuestions(Resolver& resolver, const SignatureChoice& choice, Alignment alignment);

  // The rules of the domains for which only another domain's signature passed: on those of others nothing depends.
  // Waits for them until `deadline`. Throws std::bad_alloc.
  std::vector<OwnerRule> rules(const SignatureChoice& verified, Resolver::Clock::time_point deadline);

 private:
  struct Question {
    std::string domain;
    std::shared_ptr<Resolver::Lookup> of_domain;
    std::shared_ptr<Resolver::Lookup> of_organization;  // null: the domain is its own organisational domain
  };

  SignatureOutcome answer(const Question& question, Resolver::Clock::time_point deadline);

  Resolver& resolver_;
  std::vector<Question> questions_;
};

}  // namespace bloomgate
