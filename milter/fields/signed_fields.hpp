// What a signature leaves open among the fields that a reader sees. If h= names a field n times, the signature covers
// the last n fields of that name (RFC 6376 section 5.4.2). Readers show either the first or the last (section 8.15).
//
// Pure; safe from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "milter/fields/content_type.hpp"
#include "milter/fields/watched_fields.hpp"

namespace bloomgate {

// How often h= names each watched field, up to a bound. Small, since there is one for each signature.
class SignedNames {
 public:
  // `list` is the value of h=. Linear.
  explicit SignedNames(std::string_view list = {}) noexcept;

  std::size_t count(WatchedField field) const noexcept { return counts_[static_cast<std::size_t>(field)]; }

 private:
  std::array<std::uint16_t, kWatchedFields> counts_ = {};
};

struct OpenFields {
  // A field that an attacker may have added; nothing: there is none. If there is one, the signature does not count.
  std::optional<WatchedField> added = {};
  // Conditions on the body, where the fields about it are not signed: see BodyCheck.
  bool needs_enclosed_body = false;
  bool needs_encoded_body = false;
  bool needs_no_message = false;  // the signature does not cover Content-Type, which may not even be there any more
  BodyStructure structure = {};
  BodyEncoding encoding = BodyEncoding::none;
};

// `required` are fields that must be signed if they occur, beside those that always must be: From, Sender, Reply-To,
// Subject, and the fields about the body if they contain more than content_type.hpp allows. Throws std::bad_alloc.
OpenFields open_fields(const SeenFields& seen, const SignedNames& names, WatchedFieldSet required);

// How far the clock of a signer may be ahead of ours.
inline constexpr std::chrono::hours kMostAhead(24);

// What the operator requires of a signature. The daemon's own verifier and the trusted results use the same rules.
struct CoverRules {
  // From must be signed once more than it occurs, so that no other From can be added.
  bool require_oversigned = false;
  // Fields that must be signed if they occur, beside those of open_fields().
  WatchedFieldSet required = {};
  // An older signature does not count, since its message may have been kept to be sent again.
  std::chrono::days max_age{10};
};

// When a signature was made: its t=, or else the Date field if that is signed. Nothing if neither can be read. Throws
// std::bad_alloc.
std::optional<std::chrono::sys_seconds> time_signed(std::optional<std::string_view> t, const SeenFields& seen,
                                                    const SignedNames& names);

}  // namespace bloomgate
