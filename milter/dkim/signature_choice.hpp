// Chooses which DKIM-Signature fields of a message are worth verifying, before any name is looked up. A field is chosen
// if its signer is named by an entry, or if its domain is aligned with a sender's, unless something in the field makes
// it worthless. This code only chooses; libopendkim decides whether a signature is valid, and library_verifier.cpp
// makes sure that both have read the same tags.
//
// Only a narrow form of d=, s= and i= is accepted here. The published attacks that exploit differences between mail
// programs (Chen, Paxson and Jiang, USENIX Security 2020) put NULs, quotes, parentheses and second domains into these
// tags, so that two programs read different names. d= and s= must be names of letters, digits, hyphens and underscores;
// i= must be an address that needs no quotes.
//
// Pure; safe from any thread. Throws std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/verifier.hpp"
#include "milter/fields/content_type.hpp"
#include "milter/fields/signatures.hpp"

namespace bloomgate {

// The tags that both readers read, each without any white space.
inline constexpr std::string_view kReadTags[] = {"a", "b", "bh", "c", "d", "h", "i", "l", "s", "t", "v", "x"};
class SignatureTags {
 public:
  // `name` is one of kReadTags. Nothing if the tag is absent.
  const std::optional<std::string>& operator[](std::string_view name) const noexcept;
  std::optional<std::string>& operator[](std::string_view name) noexcept;

 private:
  std::array<std::optional<std::string>, std::size(kReadTags)> values_ = {};
};

struct SignatureCandidate {
  std::size_t field = 0;  // its index in the header
  SignatureTags tags = {};
  Signature signature = {};
  bool is_worth_verifying = false;  // else signature.outcome says why not
  // What has to hold of the body for the signature to count; see `structure` and `encoding` below.
  bool needs_enclosed_body = false;
  bool needs_encoded_body = false;
  bool needs_no_message = false;
};

struct SignatureChoice {
  SignatureNeed need = {};  // the domains for which they are chosen
  // At most kMaxVerifiedSignatures, in the order of the header.
  std::vector<SignatureCandidate> candidates = {};
  // Whether a candidate signs DKIM-Signature fields, so that the verifier needs the other ones too.
  bool needs_other_signatures = false;
  // What the header says about the body, if a candidate depends on that being true.
  BodyStructure structure = {};
  BodyEncoding encoding = BodyEncoding::none;

  bool is_empty() const noexcept;  // no signature is worth verifying

  // What is known about the signatures before any is verified.
  Signatures outcome() &&;

  // Whether `found` can be a verifier's result for these candidates: it may contain only domains that the message
  // names, and owner rules only for these.
  bool allows(const Signatures& found) const noexcept;
};

// Whether a header field in the form of VerifyRequest has that name, in any case and with white space after it.
bool is_field(std::string_view field, std::string_view name) noexcept;

SignatureChoice choose_signatures(const VerifyRequest& request, const VerifyRules& rules);

}  // namespace bloomgate
