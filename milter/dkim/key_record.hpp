// The DNS record of a key, as the signer's domain publishes it (RFC 6376 section 3.6.1). libopendkim is too lenient: if
// a tag occurs twice, it uses the last one; it accepts v= in any position; it knows no key format but
// SubjectPublicKeyInfo; it does not compare k= with a=; and it leaves t=y to its caller. So the record is read here
// first.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

#include "milter/fields/signatures.hpp"

namespace bloomgate {

struct ReadKey {
  // pass: the library may judge `record`. Otherwise the reason why no signature by this key counts.
  SignatureOutcome outcome = SignatureOutcome::key_malformed;
  std::string record = {};  // the same record, with an RSA key in the form that the library knows
};

// `algorithm` is the signature's a=, one of the known algorithms.
ReadKey read_key_record(std::string_view record, std::string_view algorithm);

}  // namespace bloomgate
