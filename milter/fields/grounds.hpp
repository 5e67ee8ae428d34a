// What a message itself offers as grounds for authentication results: SPF can be about the domain of its envelope
// sender, DKIM about the domains that its DKIM-Signature fields name, DMARC about a domain that is aligned with either.
// Collected by the daemon, one message after the other; asked by Authentication::summarize().
//
// A trusted field may hold results that its writer never found (result_forgery.hpp says how). This is the second lock:
// a pass without grounds does not count. Nor does one whose signature leaves open what a reader sees
// (signed_fields.hpp): `dkim=pass` says nothing of that. It names a domain, and perhaps a selector and the start of a
// signature; every signature that it could be about has to leave nothing open, since an attacker can add some that look
// like the good one. The body is not seen here, so a multipart counts if its fields
// say little. A sender may lay grounds for another's domain, by a signature or an envelope sender, but then the honest
// milters write a fail for it, which contradicts the pass.
//
// Used by one thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milter/fields/authentication_results.hpp"
#include "milter/fields/header_from.hpp"
#include "milter/fields/signature_name.hpp"
#include "milter/fields/signed_fields.hpp"
#include "milter/fields/watched_fields.hpp"

namespace bloomgate {

class Grounds {
 public:
  // With more signatures than this the results are misleading: no honest mail has as many.
  static constexpr std::size_t kMaxSignatures = 64;
  // Each is looked up.
  static constexpr std::size_t kMostSigners = 8;

  // A new message. `helo` is the name in the greeting, empty if it is not known; `path` is that of the MAIL command.
  // Throws std::bad_alloc; clear() must follow then.
  void begin(std::string_view helo, std::string_view path);

  // The value of a DKIM-Signature field, of which the one domain is kept, and what it signs. One that is not a valid
  // list of tags, or has l=, leaves everything open: other readers may forgive it. Throws as begin() does.
  void add_signature(std::string_view value);

  // Any field, `name` as it stands before the colon. Throws as begin() does.
  void add_field(std::string_view name, std::string_view value) { seen_.add(name, value); }

  // The header is over: finds which signatures leave nothing open, and which mailing list there is. Until then all
  // signatures count, and there is no list. Throws as begin() does.
  void end_header(const CoverRules& rules, std::chrono::sys_seconds now);

  void clear() noexcept;

  // The mailing list that the message says it comes from: its List-Id, canonical. Empty if it has none, or one that
  // another reader could take for something else, and where a signature is misleading.
  std::string_view list_id() const noexcept { return list_id_; }

  // The domains that have signed the message, whatever that is worth: the first kMostSigners different ones. None where
  // a signature is misleading: not all of them are known then.
  std::span<const std::string_view> signers() const noexcept { return {signers_.data(), signer_count_}; }

  // Whether each signature of exactly that domain signs the List-Id field, and there is one. A result of a signature
  // does not say which one it is of.
  bool signs_list_id(std::string_view signer) const noexcept;

  // The first domain below that canonical one, in the same organisation, of which the message has a signature, whatever
  // that is worth. Empty if there is none.
  std::string_view signer_below(std::string_view domain) const noexcept;

  // Whether anything in the message, or in `from`, can forge results: then no result counts.
  bool is_misleading(const HeaderFrom& from) const noexcept;

  // Whether a pass of that method can be about that canonical domain. For dkim the domain may also be below that of a
  // signature, since some milters write only the signature's identity; `named` is the signature that the pass names.
  // True for methods that this class knows nothing about. A signature grounds nothing if it, or another one that the
  // pass could be about, leaves something open.
  bool support(AuthenticationMethod method, std::string_view domain, const SignatureName& named = {}) const noexcept;

 private:
  // What one DKIM-Signature field claims. Two names of kMaxDomainBytes at most, and some numbers.
  struct Claim {
    std::string domain = {};
    SignatureName signature = {};
    SignedNames names{};
    bool is_readable = true;               // a valid list without l=
    std::optional<std::string> time = {};  // t=, its first bytes
    bool covers = true;                    // what a reader sees
  };

  template <typename Predicate>
  bool has_signer(Predicate is_about) const noexcept;
  bool covers(const Claim& claim, const CoverRules& rules, std::chrono::sys_seconds now) const;
  void find_signers() noexcept;

  std::string sender_domain_;
  std::vector<Claim> claims_;                                // one for each signature at most
  std::array<std::string_view, kMostSigners> signers_ = {};  // parts of the claims
  std::size_t signer_count_ = 0;
  std::string list_id_;
  SeenFields seen_;
  std::size_t signatures_ = 0;
  bool misleading_ = false;
};

}  // namespace bloomgate
