// Which DKIM-Signature fields of a message are worth verifying, found before any name is looked up: those of a named
// signer, or of a domain that is aligned with a sender's, with nothing in them that makes them worthless from the
// start. This chooses; that a signature is good is for libopendkim to say, and library_verifier.cpp sees that both have
// read the same tags.
//
// d=, s= and i= have a narrow form here, since the published attacks on mail authentication by composition (Chen,
// Paxson and Jiang, USENIX Security 2020) put NULs, quotes, parentheses and second domains into them, which one program
// reads as another name than the next. d= and s= are names of letters, digits, hyphens and underscores; i= is an
// address that needs no quotes.
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

// The tags that are read by both, each without any white space.
inline constexpr std::string_view kReadTags[] = {"a", "b", "bh", "c", "d", "h", "i", "l", "s", "t", "v", "x"};
class SignatureTags {
 public:
  // `name` is one of kReadTags. Nothing if it is not there.
  const std::optional<std::string>& operator[](std::string_view name) const noexcept;
  std::optional<std::string>& operator[](std::string_view name) noexcept;

 private:
  std::array<std::optional<std::string>, std::size(kReadTags)> values_ = {};
};

struct SignatureCandidate {
  std::size_t field = 0;  // its place in the header
  SignatureTags tags = {};
  Signature signature = {};
  bool is_worth_verifying = false;  // else signature.outcome says why not
  // What has to hold of the body for it; see `body` below.
  bool needs_enclosed_body = false;
  bool needs_encoded_body = false;
};

struct SignatureChoice {
  SignatureNeed need = {};  // for whose sake they are chosen
  // At most kMaxVerifiedSignatures, in the order of the header.
  std::vector<SignatureCandidate> candidates = {};
  // Whether one of them signs DKIM-Signature fields, so that the verifier needs the others too.
  bool needs_other_signatures = false;
  // What the header says of the body, where a candidate needs to know whether that is so.
  BodyStructure structure = {};
  BodyEncoding encoding = BodyEncoding::none;

  bool is_empty() const noexcept;  // nothing is worth verifying

  // What is known of the signatures before any is verified.
  Signatures outcome() &&;

  // Whether a verifier may have found that of them: it speaks for no other domain than those that the message names,
  // and says only of these whether the owner of a wanted domain lets them sign.
  bool allows(const Signatures& found) const noexcept;
};

// Whether a header field, given as in VerifyRequest, has that name, in any case and with space after it.
bool is_field(std::string_view field, std::string_view name) noexcept;

SignatureChoice choose_signatures(const VerifyRequest& request, const VerifyRules& rules);

}  // namespace bloomgate
