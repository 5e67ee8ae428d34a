// What in a message itself supports authentication results. An SPF result can be about the domain of its envelope
// sender, a DKIM result about the domains that its DKIM-Signature fields name, a DMARC result about a domain that is
// aligned with one of these. The daemon collects the grounds of one message after the other;
// Authentication::summarize() uses them.
//
// A trusted field may hold results that its writer never found (result_forgery.hpp says how). This class is the second
// defence: a pass without grounds does not count. Nor does a pass whose signature leaves open what a reader sees
// (signed_fields.hpp), about which `dkim=pass` says nothing. The result names a domain, and perhaps a selector and the
// start of a signature. Every signature that it could be about must leave nothing open, since an attacker can add
// signatures that look like the good one. The body is not seen here, so a multipart counts if its fields contain
// little. A sender may create grounds for another owner's domain, by a signature or an envelope sender; but then the
// honest milters write a fail for that domain, which contradicts the pass.
//
// Used by one thread at a time.
#pragma once

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
  // With more signatures than this the results are misleading: no honest mail has so many.
  static constexpr std::size_t kMaxSignatures = 64;
  // Each signer is looked up.
  static constexpr std::size_t kMostSigners = 8;
  static constexpr std::size_t kMostLists = 8;

  // Starts a new message. `helo` is the name in the greeting, empty if unknown; `path` is that of the MAIL command.
  // Throws std::bad_alloc; then clear() must follow.
  void begin(std::string_view helo, std::string_view path);

  // Adds the value of a DKIM-Signature field. Only its domain and what it signs are kept. A value that is not a valid
  // list of tags, or that has l=, leaves everything open, since other readers may accept it. Throws as begin() does.
  void add_signature(std::string_view value);

  // Adds any field; `name` is as it stands before the colon. Throws as begin() does.
  void add_field(std::string_view name, std::string_view value);

  // To be called when the header is complete: finds which signatures leave nothing open, and the mailing list, if there
  // is one. Until then all signatures count, and there is no list. Throws as begin() does.
  void end_header(const CoverRules& rules, std::chrono::sys_seconds now);

  void clear() noexcept;

  // The mailing list that the message names: its List-Id, canonical. Empty if the message has none, if another reader
  // could read it differently, or if a signature is misleading.
  std::string_view list_id() const noexcept;

  // The domains that have signed the message, valid or not: the first kMostSigners different ones. None if a signature
  // is misleading, since then not all of them are known.
  std::span<const std::string> signers() const noexcept;

  // For revocation: the domains of all DKIM-Signature fields, and the mailing lists of all List-Id fields, whatever
  // else is in the message. One is enough to stop it, so no field that a sender adds may hide another one.
  std::span<const std::string> claimed_signers() const noexcept { return claimed_signers_; }
  std::span<const std::string> named_lists() const noexcept { return named_lists_; }
  // Whether there are more than kMaxSignatures, or kMostLists, of these. No honest mail has so many.
  bool has_more_claims() const noexcept {
    return signatures_ > kMaxSignatures || seen_.count(WatchedField::list_id) > kMostLists;
  }

  // Whether there is a signature of exactly that domain, and all of them sign the List-Id field: a result does not say
  // which signature it is about.
  bool signs_list_id(std::string_view signer) const noexcept;

  // The first domain below the canonical `domain`, in the same organisation, that has signed the message, validly or
  // not. Empty if there is none.
  std::string_view signer_below(std::string_view domain) const noexcept;

  // Whether anything in the message, or in `from`, can forge results. Then no result counts.
  bool is_misleading(const HeaderFrom& from) const noexcept;

  // Whether a pass of that method can be about that canonical domain. For dkim the domain may also be below that of a
  // signature, since some milters write only the signature's identity; `named` is the signature that the pass names.
  // True for methods that this class does not handle. A signature supports nothing if it leaves something open, or if
  // another signature does that the pass could be about.
  bool support(AuthenticationMethod method, std::string_view domain, const SignatureName& named = {}) const noexcept;

 private:
  // What one DKIM-Signature field claims: two names of at most kMaxDomainBytes, and some numbers.
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

  std::string sender_domain_;
  std::vector<Claim> claims_;  // one for each signature at most
  std::vector<std::string> claimed_signers_;
  std::vector<std::string> named_lists_;
  SeenFields seen_;
  std::size_t signatures_ = 0;
  bool misleading_ = false;
  bool is_header_complete_ = false;
};

}  // namespace bloomgate
