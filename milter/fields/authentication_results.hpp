// Reads one Authentication-Results field: what the authenticating milters before us found out about a message.
// authentication.cpp calls this for each such field.
//
// The grammar is that of RFC 8601 section 2.2 with exactly these additions, which existing programs need: a value
// without quotes may contain any visible character but `;`, `(`, `)`, `"` and `\` (base64 in header.b, addresses,
// `<>`); a reason may follow properties; a property may lack its type (`action=none`); one `;` may be at the very end.
// There is no recovery: if any part of a field is not understood, the field has no results at all. So nothing that an
// attacker gets into an address or a comment can look like the start of the next result.
//
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "milter/fields/signature_name.hpp"

namespace bloomgate {

enum class AuthenticationMethod : std::uint8_t { dkim, spf, dmarc, arc, other };

// As in RFC 8601 sections 2.7.1 and 2.7.2, RFC 7489 section 11.2; old programs write hardfail.
enum class AuthenticationResult : std::uint8_t {
  pass,
  fail,
  softfail,
  hardfail,
  policy,
  neutral,
  none,
  temperror,
  permerror,
  other,
};

struct MethodResult {
  AuthenticationMethod method = AuthenticationMethod::other;
  AuthenticationResult result = AuthenticationResult::other;
  // The canonical domain that the result is about. For dmarc it is header.from; for dkim header.d, or else header.i;
  // for spf smtp.mailfrom, never the HELO name. Empty if there is none, if it is not a domain, and if the field names
  // several that contradict each other. A header.i may be in a domain below header.d.
  std::string domain = {};
  // For dkim, the signature that the result is about: header.s and header.b. A part is unknown if the field does not
  // have it, or has it with two values.
  SignatureName signature = {};

  friend bool operator==(const MethodResult&, const MethodResult&) = default;
};

struct AuthenticationResults {
  std::string authserv_id = {};            // unquoted, in its original case
  std::vector<MethodResult> results = {};  // in order; empty for `none`

  friend bool operator==(const AuthenticationResults&, const AuthenticationResults&) = default;
};

// Longer fields, and fields with more results, count as fields without results.
inline constexpr std::size_t kMaxAuthenticationResultsBytes = 65536;
inline constexpr std::size_t kMaxResultsInField = 256;

// The name of the field's writer, unquoted; nothing if the field does not start with a name. The text after it need not
// parse. Linear in the text before the first `;`. Throws std::bad_alloc.
std::optional<std::string> parse_authserv_id(std::string_view value);

// Nothing if the value is not a whole Authentication-Results field of version 1. Linear. Throws std::bad_alloc.
std::optional<AuthenticationResults> parse_authentication_results(std::string_view value);

}  // namespace bloomgate
