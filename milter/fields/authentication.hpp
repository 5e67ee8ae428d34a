// What all trusted Authentication-Results fields of a message say together. Made once per message, at its end; decide()
// uses it.
//
// A field is trusted if its authserv-id is one of ours. The mail server's recipes remove such fields from incoming
// mail, so only the milters before us can have written them. Anyone can forge other fields; they have no effect here.
//
// Within one field, one passing DKIM signature of a domain is enough, even if another signature of that domain fails.
// If trusted fields contradict each other about a method and a domain (pass in one and anything else in another), that
// counts as no result. The same holds for a pass and another result for spf or dmarc in one field. The results fail,
// softfail, hardfail and policy are a fail. All others (none, neutral, temperror, permerror, unknown words) only cancel
// a pass: if the method's own milter found nothing, a pass in another field is text that another milter copied from the
// sender (result_forgery.hpp).
// Immutable once made; any thread may call it. The member functions that answer are noexcept and allocate nothing.
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
  // Limits on the number of trusted fields, and of pairs of method and domain in them. Beyond these limits no method
  // passes, and dmarc() is fail for every domain, since the omitted part may have been a fail.
  static constexpr std::size_t kMaxTrustedFields = 64;
  static constexpr std::size_t kMaxStatements = 512;

  // No field was seen.
  Authentication() = default;

  // What the fields say about the message from which `grounds` and `from` were made: a pass counts only with its
  // grounds. If a sender could have made the trusted milters write results that they did not find (result_forgery.hpp),
  // nothing counts, as beyond the limits above.
  static Authentication summarize(std::span<const std::string_view> values, std::span<const std::string> trusted_ids,
                                  const Grounds& grounds, const HeaderFrom& from);

  // The same for fields without their message, which are believed. `values` are those of all Authentication-Results
  // fields, in any order. `trusted_ids` are compared without regard to ASCII case; empty ones never match. Linear in
  // the bytes; quadratic in the results of trusted fields, which are bounded. Throws std::bad_alloc.
  static Authentication summarize(std::span<const std::string_view> values, std::span<const std::string> trusted_ids);

  // Readable fields with one of our ids.
  std::size_t trusted_fields() const noexcept { return trusted_fields_; }
  // Unreadable fields with one of our ids: they count as no result. One may have held a fail.
  std::size_t unreadable_fields() const noexcept { return unreadable_fields_; }
  // Fields of other writers, and fields that do not even start with an id.
  std::size_t ignored_fields() const noexcept { return ignored_fields_; }
  // If true, nothing that the fields say counts: there are too many of them, or the sender may have forged them.
  bool is_distrusted() const noexcept { return distrusted_; }

  // What DMARC says about exactly this domain. A fail that names no domain counts for every domain, since a message has
  // one From; a pass that names none counts for no domain. `domain` is canonical here and below.
  Finding dmarc(std::string_view domain) const noexcept;

  // Whether a DKIM signature that speaks for `domain` passed.
  bool dkim_aligned(std::string_view domain, Alignment alignment) const noexcept;

  // The domain of a passing DKIM signature that is below `domain`, so that it speaks for `domain` only under `relaxed`.
  // Empty if there is none.
  std::string_view child_signer(std::string_view domain) const noexcept;

  // Whether SPF passed for an envelope sender whose domain speaks for `domain`.
  bool spf_aligned(std::string_view domain, Alignment alignment) const noexcept;

  // Whether a trusted field says that SPF failed for exactly that domain, whatever other fields say.
  bool spf_is_denied(std::string_view domain) const noexcept;

  // Whether DKIM, SPF or DMARC failed for a domain of `domain`'s organisation (relaxed alignment), or DMARC for an
  // unnamed domain. For a policy that accepts a missing pass, but not a fail.
  bool fails_aligned(std::string_view domain) const noexcept;

  // Whether the chain of ARC seals is valid. The result names no domain, and anyone can seal a chain. So a pass has
  // value only if the verifier before us lets only those sealers pass that it is configured to trust. Hence no other
  // function here uses it.
  Finding arc() const noexcept;

 private:
  // What one field, or all of them together, say about one method and domain.
  struct Statement {
    AuthenticationMethod method = AuthenticationMethod::other;
    Finding finding = Finding::none;
    std::string domain = {};
    bool contradicted = false;
    bool has_fail = false;  // one of the contradicting results is a fail

    bool is_fail() const noexcept { return finding == Finding::fail || has_fail; }
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
