// Identifies a signature of a message by its selector and the first characters of its b=. A DKIM-Signature field has
// both, and a result of another verifier may have them as header.s and header.b (RFC 8601 section 2.7.1, RFC 6008).
//
// A result of one signature must never be taken for the result of another, since an attacker can add signatures beside
// a good one, and can change its b= in ways that some verifiers ignore. So a part that two programs could read
// differently counts as unknown, and an unknown part matches every signature.
//
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

struct SignatureName {
  // RFC 6008 section 4 requires that many characters in a result; fewer count as unknown.
  static constexpr std::size_t kMinStartBytes = 8;
  // No more are kept. The shortest signature, of Ed25519, has 86 before its padding.
  static constexpr std::size_t kMaxStartBytes = 32;

  std::string selector = {};  // in lower case, without a final dot; empty if unknown
  std::string start = {};     // of b=, without white space; empty if unknown

  friend bool operator==(const SignatureName&, const SignatureName&) = default;
};

// The canonical form of s= or header.s; empty if it is not a name in ASCII. Throws std::bad_alloc.
std::string canonical_selector(std::string_view text);

// The first characters of b= or header.b; empty if one of them is not a base64 character, or if there are too few.
// Throws std::bad_alloc.
std::string signature_start(std::string_view text);

// Whether a result that names `named` can be about `signature`.
bool can_mean(const SignatureName& named, const SignatureName& signature) noexcept;

}  // namespace bloomgate
