// What happened to a message's signature, in words for a person. Pure; throws std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

#include "milter/fields/signatures.hpp"

namespace bloomgate {

struct SignatureWords {
  std::string cause;   // the part of a sentence that says why the signature proves nothing
  std::string remedy;  // a sentence: what would change that
};

// `domain` is the signature's, `sender_domain` that of the sender whom it would prove. Both, and the selector, may be
// empty: unknown.
SignatureWords signature_words(SignatureOutcome outcome, std::string_view domain, std::string_view selector,
                               std::string_view sender_domain);

}  // namespace bloomgate
