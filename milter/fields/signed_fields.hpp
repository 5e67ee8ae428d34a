// What a signature leaves open of the fields that a reader sees. A signature covers as many fields of a name, from the
// last one on, as its h= names (RFC 6376 section 5.4.2); readers show the first or the last, as they please (section
// 8.15).
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

// How often h= names each watched field, up to a bound. Small, since one is kept of each signature.
class SignedNames {
 public:
  // `list` is the value of h=. Linear.
  explicit SignedNames(std::string_view list = {}) noexcept;

  std::size_t count(WatchedField field) const noexcept { return counts_[static_cast<std::size_t>(field)]; }

 private:
  std::array<std::uint16_t, kWatchedFields> counts_ = {};
};

struct OpenFields {
  // A field that somebody else may have put there; nothing: there is none. The signature does not count.
  std::optional<WatchedField> added = {};
  // What has to hold of the body, too: see BodyCheck. That is so where the fields about it are not signed.
  bool needs_enclosed_body = false;
  bool needs_encoded_body = false;
  BodyStructure structure = {};
  BodyEncoding encoding = BodyEncoding::none;
};

// `required` are fields that have to be signed where they are there, beside those that always have to be: From, Sender,
// Reply-To, Subject, and those about the body if they say more than content_type.hpp allows. Throws std::bad_alloc.
OpenFields open_fields(const SeenFields& seen, const SignedNames& names, WatchedFieldSet required);

// By how much the clock of a signer may be ahead of ours.
inline constexpr std::chrono::hours kMostAhead(24);

// What the operator requires of a signature. The daemon's own verifier and the trusted results use the same rules.
struct CoverRules {
  // From has to be signed once more than it occurs, so that none can be added.
  bool require_oversigned = false;
  // Fields that have to be signed where they are there, beside those of open_fields().
  WatchedFieldSet required = {};
  // A signature that was made longer ago does not count: it may have been kept to be sent again.
  std::chrono::days max_age{10};
};

// When a signature was made: its t=, or else the Date field if that is signed. Nothing if neither can be read. Throws
// std::bad_alloc.
std::optional<std::chrono::sys_seconds> time_signed(std::optional<std::string_view> t, const SeenFields& seen,
                                                    const SignedNames& names);

}  // namespace bloomgate
