// The record of a key, as the signer's domain publishes it (RFC 6376 section 3.6.1). libopendkim takes the last of two
// tags of one name, takes v= at any place, knows no key but a SubjectPublicKeyInfo, does not compare k= with a=, and
// leaves t=y to its caller. So a record is read here first.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

#include "milter/fields/signatures.hpp"

namespace bloomgate {

struct ReadKey {
  // pass: `record` is for the library to judge. Else why no signature by this key counts.
  SignatureOutcome outcome = SignatureOutcome::key_malformed;
  std::string record = {};  // the same, with an RSA key in the form that the library knows
};

// `algorithm` is the signature's a=, one of those that are known.
ReadKey read_key_record(std::string_view record, std::string_view algorithm);

}  // namespace bloomgate
