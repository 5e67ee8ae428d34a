// What all trusted Authentication-Results fields of a message say together. Made once per message, at its end; decide()
// asks it.
//
// A field is trusted if its authserv-id is one of ours. The mail server's recipes remove such fields from incoming
// mail, so only the milters before us can have written them. Anyone can forge other fields; they change nothing here.
//
// Within one field, one passing DKIM signature of a domain is enough, even if another signature of that domain fails.
// If trusted fields contradict each other on a method and domain (pass in one and anything else in another), that
// counts as no result; so does a pass and something else for spf or dmarc in one field. A fail is one of fail,
// softfail, hardfail and policy. Everything else (none, neutral, temperror, permerror, unknown words) only cancels a
// pass: if the method's own milter found nothing, a pass in another field is text that another milter copied from the
// sender (result_forgery.hpp).
//
// Immutable once made; any thread may ask. The answers are noexcept and allocate nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milter/fields/alignment.hpp"
#include "milter/fields/authentication_results.hpp"
#include "milter/fields/grounds.hpp"
#include "milter/fields/header_from.hpp"

namespace bloomgate {

enum class Finding : std::uint8_t { none, pass, fail };

// "none", "pass", "fail". Never fails.
std::string_view finding_name(Finding finding) noexcept;

class Authentication {
 public:
  // Limits on trusted fields, and on pairs of method and domain in them. Beyond these nothing passes, and dmarc() is
  // fail for every domain, since the part left out may have been a fail.
  static constexpr std::size_t kMaxTrustedFields = 64;
  static constexpr std::size_t kMaxStatements = 512;

  // No field was seen.
  Authentication() = default;

  // What the fields say of the message that `grounds` and `from` are of: a pass needs its grounds. Where somebody could
  // have made the trusted milters write what they did not find (result_forgery.hpp) nothing counts, as past the bounds
  // above.
  static Authentication summarize(std::span<const std::string_view> values, std::span<const std::string> trusted_ids,
                                  const Grounds& grounds, const HeaderFrom& from);

  // The same for fields at hand without their message, which are believed. `values` are those of all
  // Authentication-Results fields, in any order; `trusted_ids` are compared without regard to ASCII case, empty ones
  // never match. Linear in the bytes; quadratic in the results of trusted fields, which are bounded. Throws
  // std::bad_alloc.
  static Authentication summarize(std::span<const std::string_view> values, std::span<const std::string> trusted_ids);

  // Fields with one of our ids that could be read.
  std::size_t trusted_fields() const noexcept { return trusted_fields_; }
  // Fields with one of our ids that could not be read: they count as no result. One may have held a fail.
  std::size_t unreadable_fields() const noexcept { return unreadable_fields_; }
  // Fields of others, and fields that do not even start with an id.
  std::size_t ignored_fields() const noexcept { return ignored_fields_; }
  // Nothing that the fields say counts: there are more of them than are looked at, or a stranger may have written it.
  bool is_distrusted() const noexcept { return distrusted_; }

  // What DMARC says of exactly this domain. A fail that names no domain counts for every domain, since a message has
  // one From; a pass that names none counts for nothing. `domain` is canonical here and below.
  Finding dmarc(std::string_view domain) const noexcept;

  // Whether a DKIM signature that speaks for `domain` passed.
  bool dkim_aligned(std::string_view domain, Alignment alignment) const noexcept;

  // The domain of a DKIM signature that passed, and that is below `domain`, so that `relaxed` alone lets it speak for
  // `domain`. Empty: there is none.
  std::string_view child_signer(std::string_view domain) const noexcept;

  // Whether SPF passed for an envelope sender whose domain speaks for `domain`.
  bool spf_aligned(std::string_view domain, Alignment alignment) const noexcept;

  // Whether a trusted field says that SPF failed for exactly that domain, whatever else others say.
  bool spf_is_denied(std::string_view domain) const noexcept;

  // Whether DKIM, SPF or DMARC failed for a domain of `domain`'s organisation (relaxed alignment), or DMARC for a
  // domain that was not named. For a policy that accepts a missing pass, but not a fail.
  bool fails_aligned(std::string_view domain) const noexcept;

  // Whether the chain of ARC seals is valid. It names no domain, and anyone can seal a chain. A pass is worth something
  // only if the verifier before us passes just the sealers that it is told to trust. So nothing else here looks at it.
  Finding arc() const noexcept;

 private:
  // What one field, or all of them, say of one method and domain.
  struct Statement {
    AuthenticationMethod method = AuthenticationMethod::other;
    Finding finding = Finding::none;
    std::string domain = {};
    bool contradicted = false;

    bool is_pass_of(AuthenticationMethod wanted) const noexcept {
      return method == wanted && finding == Finding::pass && !contradicted;
    }
  };

  static Authentication summarize(std::span<const std::string_view> values, std::span<const std::string> trusted_ids,
                                  const Grounds* grounds);
  void add_field(const AuthenticationResults& field, const Grounds* grounds);
  void check_dmarc();
  void add(const Statement& statement, bool pass_is_enough);
  Finding finding_for(AuthenticationMethod method, std::string_view domain) const noexcept;
  bool passes_aligned(AuthenticationMethod method, std::string_view domain, Alignment alignment) const noexcept;

  std::vector<Statement> statements_;
  std::size_t trusted_fields_ = 0;
  std::size_t unreadable_fields_ = 0;
  std::size_t ignored_fields_ = 0;
  bool distrusted_ = false;
};

}  // namespace bloomgate
