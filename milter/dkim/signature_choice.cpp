#include "milter/dkim/signature_choice.hpp"

#include <algorithm>
#include <span>

#include "filter/address/characters.hpp"
#include "filter/base/ascii.hpp"
#include "filter/mail/mail_header.hpp"
#include "milter/fields/result_forgery.hpp"
#include "milter/fields/signed_fields.hpp"
#include "milter/fields/tag_list.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

constexpr std::string_view kSignatureField = "DKIM-Signature";
constexpr std::string_view kKeyZone = "._domainkey.";
constexpr std::size_t kMaxNameBytes = 253;  // of a name in the DNS, as text

// With more signatures, the others are not passed to the verifier, since it computes a header hash for each.
constexpr std::size_t kMaxOtherSignatures = 16;

SignatureTags tags_of(const TagList& list) {
  SignatureTags tags;
  for (const std::string_view name : kReadTags) {
    if (const auto value = list.find(name)) tags[name] = without_any_space(*value);
  }
  return tags;
}

bool is_plain_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > kMaxNameBytes || text.ends_with('.')) return false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('.'), text.size());
    if (end == 0 || end > kMaxLabelBytes) return false;
    if (!std::ranges::all_of(text.substr(0, end), characters::is_domain_character)) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// The canonical domain of a signature; empty if it is not a domain that we accept.
std::string domain_of(const SignatureTags& tags) {
  const std::optional<std::string>& text = tags["d"];
  Domain domain;
  if (!text || !is_plain_name(*text) || canonicalize_host_name(*text, domain) != RejectReason::none) return {};
  return std::string(domain.view());
}

enum class WantedFor : std::uint8_t { sender, signer, nothing };

WantedFor wanted_for(const SignatureNeed& need, std::string_view domain, Alignment alignment) noexcept {
  if (std::ranges::any_of(need.senders(),
                          [&](const Domain& wanted) { return aligned(domain, wanted.view(), alignment); })) {
    return WantedFor::sender;
  }
  const bool is_signer = std::ranges::find(need.signers(), domain, &Domain::view) != need.signers().end();
  return is_signer ? WantedFor::signer : WantedFor::nothing;
}

// What choose_signatures() parses once for a header.
struct Reading {
  const VerifyRequest& request;
  const VerifyRules& rules;
  SeenFields seen = {};
};

SeenFields seen_in(std::span<const std::string_view> header) {
  SeenFields seen;
  for (const std::string_view field : header) {
    // Includes the white space after the name, which makes the name an odd one.
    seen.add(field.substr(0, field.find(':')), split_field(field).value);
  }
  return seen;
}

// Whether h= names DKIM-Signature fields.
bool signs_signatures(const SignatureTags& tags) noexcept {
  std::string_view rest = tags["h"] ? std::string_view(*tags["h"]) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (ascii::equal_ignoring_case(rest.substr(0, end), kSignatureField)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// An identity has to be in the signature's domain or below it.
bool is_foreign(std::string_view identity, std::string_view domain) noexcept {
  const std::size_t at = identity.find('@');
  const std::string_view host = identity.substr(std::min(at + 1, identity.size()));
  Domain canonical;
  return at == std::string_view::npos || !is_plain_name(host) ||
         canonicalize_host_name(host, canonical) != RejectReason::none || !is_same_or_below(canonical.view(), domain);
}

bool is_known_algorithm(std::string_view name) noexcept {
  return ascii::equal_ignoring_case(name, "rsa-sha256") || ascii::equal_ignoring_case(name, "ed25519-sha256");
}

// Seconds, as in RFC 6376 section 3.5: a date in the far future is still valid.
bool is_time(std::string_view text) noexcept {
  constexpr std::size_t kMostDigits = 12;
  return !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, ascii::is_digit);
}

SignatureOutcome time_fault(const Reading& reading, const SignatureTags& tags, const SignedNames& names) {
  const auto made = time_signed(tags["t"], reading.seen, names);
  if (!made || *made < reading.request.now - reading.rules.cover.max_age) return Outcome::too_old;
  return *made > reading.request.now + kMostAhead ? Outcome::not_yet_valid : Outcome::pass;
}

SignatureOutcome field_fault(const Reading& reading, SignatureCandidate& candidate, SignatureChoice& choice) {
  const SignedNames names(*candidate.tags["h"]);
  const std::size_t times = names.count(WatchedField::from);
  if (times == 0) return Outcome::from_not_signed;
  if (reading.rules.cover.require_oversigned && times <= reading.seen.count(WatchedField::from)) {
    return Outcome::from_not_oversigned;
  }
  OpenFields open = open_fields(reading.seen, names, reading.rules.cover.required);
  if (open.added) return outcome_of_added(*open.added);
  candidate.needs_enclosed_body = open.needs_enclosed_body;
  candidate.needs_encoded_body = open.needs_encoded_body;
  candidate.needs_no_message = open.needs_no_message;
  if (open.needs_enclosed_body) choice.structure = std::move(open.structure);
  if (open.needs_encoded_body) choice.encoding = open.encoding;
  return time_fault(reading, candidate.tags, names);
}

// The fault that makes a signature worthless from the start; pass: none.
SignatureOutcome find_fault(const Reading& reading, const TagList& list, SignatureCandidate& candidate,
                            SignatureChoice& choice) {
  const SignatureTags& tags = candidate.tags;
  if (!list.is_valid() || candidate.signature.selector.empty()) return Outcome::malformed_signature;
  if (signature_can_forge_results(split_field(reading.request.header[candidate.field]).value)) {
    return Outcome::malformed_signature;
  }
  if (!tags["a"] || !tags["b"] || !tags["h"]) return Outcome::malformed_signature;
  if (tags["t"] && !is_time(*tags["t"])) return Outcome::malformed_signature;
  if (!is_known_algorithm(*tags["a"])) return Outcome::weak_algorithm;
  if (const auto& identity = tags["i"]; identity && is_foreign(*identity, candidate.signature.domain)) {
    return Outcome::foreign_identity;
  }
  return field_fault(reading, candidate, choice);
}

// The selector, if it is a name that can be looked up.
std::string selector_of(const SignatureTags& tags, std::string_view domain) {
  const std::optional<std::string>& text = tags["s"];
  if (!text || !is_plain_name(*text) || text->size() + kKeyZone.size() + domain.size() > kMaxNameBytes) return {};
  return *text;
}

void add_candidate(const Reading& reading, std::size_t field, const TagList& list, SignatureTags tags,
                   const std::string& domain, SignatureChoice& choice) {
  SignatureCandidate& candidate = choice.candidates.emplace_back();
  candidate.field = field;
  candidate.tags = std::move(tags);
  candidate.signature.domain = domain;
  candidate.signature.selector = selector_of(candidate.tags, domain);
  const SignatureOutcome fault = find_fault(reading, list, candidate, choice);
  candidate.is_worth_verifying = fault == SignatureOutcome::pass;
  if (!candidate.is_worth_verifying) candidate.signature.outcome = fault;
}

}  // namespace

const std::optional<std::string>& SignatureTags::operator[](std::string_view name) const noexcept {
  return values_[static_cast<std::size_t>(std::ranges::find(kReadTags, name) - std::begin(kReadTags))];
}

std::optional<std::string>& SignatureTags::operator[](std::string_view name) noexcept {
  return values_[static_cast<std::size_t>(std::ranges::find(kReadTags, name) - std::begin(kReadTags))];
}

bool SignatureChoice::is_empty() const noexcept {
  return std::ranges::none_of(candidates, &SignatureCandidate::is_worth_verifying);
}

Signatures SignatureChoice::outcome() && {
  Signatures found;
  for (SignatureCandidate& each : candidates) found.all.push_back(std::move(each.signature));
  return found;
}

bool SignatureChoice::allows(const Signatures& found) const noexcept {
  const auto is_of_this_message = [this](const OwnerRule& rule) {
    const auto is_signer = [&rule](const SignatureCandidate& each) {
      return each.is_worth_verifying && each.signature.domain == rule.signer;
    };
    return std::ranges::find(need.senders(), rule.domain, &Domain::view) != need.senders().end() &&
           std::ranges::any_of(candidates, is_signer);
  };
  if (!std::ranges::all_of(found.owner_rules, is_of_this_message)) return false;
  const auto may_be_of = [](const Signature& signature, const SignatureCandidate& candidate) {
    return signature.domain == candidate.signature.domain && signature.selector == candidate.signature.selector &&
           (candidate.is_worth_verifying || signature.outcome != Outcome::pass);
  };
  return found.all.empty() || std::ranges::equal(found.all, candidates, may_be_of);
}

bool is_field(std::string_view field, std::string_view name) noexcept {
  return ascii::equal_ignoring_case(split_field(field).name, name);
}

SignatureChoice choose_signatures(const VerifyRequest& request, const VerifyRules& rules) {
  const Reading reading = {request, rules, seen_in(request.header)};
  SignatureChoice choice = {.need = request.need};
  std::size_t signatures = 0;
  const auto choose = [&](WantedFor wanted) {
    signatures = 0;
    for (std::size_t field = 0; field < request.header.size(); ++field) {
      if (!is_field(request.header[field], kSignatureField)) continue;
      ++signatures;
      if (choice.candidates.size() == kMaxVerifiedSignatures) continue;
      const TagList list(split_field(request.header[field]).value);
      SignatureTags tags = tags_of(list);
      const std::string domain = domain_of(tags);
      if (domain.empty() || wanted_for(request.need, domain, rules.alignment) != wanted) continue;
      add_candidate(reading, field, list, std::move(tags), domain, choice);
    }
  };
  // The signatures of a mailing list's host must not displace the sender's own.
  choose(WantedFor::sender);
  choose(WantedFor::signer);
  choice.needs_other_signatures =
      signatures <= kMaxOtherSignatures && std::ranges::any_of(choice.candidates, [](const auto& each) {
        return each.is_worth_verifying && signs_signatures(each.tags);
      });
  return choice;
}

}  // namespace bloomgate
