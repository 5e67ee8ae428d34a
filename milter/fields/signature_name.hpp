// Which signature of a message: its selector, and the first characters of its b=. A DKIM-Signature field has both, and
// a result of another verifier may have them as header.s and header.b (RFC 8601 section 2.7.1, RFC 6008).
//
// A result of one signature must never seem to be of another one, since an attacker can put more signatures beside a
// good one, and can change its b= in ways that some verifiers ignore. So a part that two programs could read
// differently counts as unknown, and what is unknown fits everything.
//
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bloomgate {

struct SignatureName {
  // RFC 6008 section 4 requires that many of a result; fewer are unknown.
  static constexpr std::size_t kMinStartBytes = 8;
  // More are not kept. The shortest signature, of Ed25519, has 86 before its padding.
  static constexpr std::size_t kMaxStartBytes = 32;

  std::string selector = {};  // in lower case, without a dot at its end; empty if it is unknown
  std::string start = {};     // of b=, without white space; empty if it is unknown

  friend bool operator==(const SignatureName&, const SignatureName&) = default;
};

// The canonical form of s= or header.s; empty if it is not a name in ASCII. Throws std::bad_alloc.
std::string canonical_selector(std::string_view text);

// The first characters of b= or header.b; empty if one of them is not a letter of base64, and if there are too few.
// Throws std::bad_alloc.
std::string signature_start(std::string_view text);

// Whether a result that names `named` can be about `signature`.
bool can_mean(const SignatureName& named, const SignatureName& signature) noexcept;

}  // namespace bloomgate
