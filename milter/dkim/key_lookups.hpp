// The look-ups of the keys of one message's signatures, from its header on. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "milter/dkim/key_hooks.hpp"
#include "milter/dkim/signature_choice.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {

class KeyLookups {
 public:
  // Starts a look-up for each candidate that is worth verifying, and does not wait. `resolver` must outlive the object.
  // Throws std::bad_alloc.
  KeyLookups(Resolver& resolver, const std::vector<SignatureCandidate>& candidates);

  // Waits until `deadline` for the key of a candidate that is worth verifying, the one at `index`, and notes in its
  // signature how long that took. Nothing, with the outcome of the signature, if there is no key by which it counts.
  // Throws std::bad_alloc.
  std::optional<FoundKey> find(SignatureCandidate& candidate, std::size_t index, Resolver::Clock::time_point deadline);

 private:
  Resolver& resolver_;
  std::vector<std::shared_ptr<Resolver::Lookup>> lookups_;  // of each candidate; null: it is not worth verifying
};

}  // namespace bloomgate
