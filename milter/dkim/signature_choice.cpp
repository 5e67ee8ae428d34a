#include "milter/dkim/signature_choice.hpp"

#include <algorithm>

#include "filter/address/characters.hpp"
#include "filter/base/ascii.hpp"
#include "milter/policy/result_forgery.hpp"

namespace bloomgate {
namespace {

using Outcome = SignatureOutcome;

constexpr std::string_view kSignatureField = "DKIM-Signature";
constexpr std::string_view kKeyZone = "._domainkey.";
constexpr std::size_t kMaxNameBytes = 253;  // of a name in the DNS, as text

// With more of them no other signatures are given to the verifier: it makes a hash of the header for each.
constexpr std::size_t kMaxOtherSignatures = 16;

// Fields of which a message has one at most (RFC 5322 section 3.6, RFC 2045 and 2183), and of which readers show the
// first or the last, as they please. A signature covers as many of them, from the last on, as it names (RFC 6376
// section 8.15).
constexpr std::string_view kSingleFields[] = {"From",
                                              "Sender",
                                              "Reply-To",
                                              "To",
                                              "Cc",
                                              "Subject",
                                              "Date",
                                              "Message-ID",
                                              "References",
                                              "In-Reply-To",
                                              "MIME-Version",
                                              "Content-Type",
                                              "Content-Transfer-Encoding",
                                              "Content-Disposition"};

std::string_view value_of(std::string_view field) noexcept {
  return field.substr(std::min(field.find(':') + 1, field.size()));
}

std::string without_any_space(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out),
                       [](char byte) { return std::string_view(" \t\r\n").find(byte) == std::string_view::npos; });
  return out;
}

// Nothing if a tag is there twice, which makes the list void (RFC 6376 section 3.2).
std::optional<SignatureTags> tags_of(std::string_view field) {
  SignatureTags tags;
  bool is_void = false;
  for_each_signature_tag(value_of(field), [&](char name, std::string_view value) {
    const std::size_t index = kReadTags.find(name);
    if (index == std::string_view::npos) return;
    is_void = is_void || tags[index].has_value();
    tags[index] = without_any_space(value);
  });
  return is_void ? std::nullopt : std::optional(std::move(tags));
}

const std::optional<std::string>& tag(const SignatureTags& tags, char name) {
  return tags[kReadTags.find(name)];
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

// The canonical domain of a signature; empty if it is not one that we take.
std::string domain_of(const SignatureTags& tags) {
  const std::optional<std::string>& text = tag(tags, 'd');
  Domain domain;
  if (!text || !is_plain_name(*text) || canonicalize_host_name(*text, domain) != RejectReason::none) return {};
  return std::string(domain.view());
}

bool is_wanted(const SignatureNeed& need, std::string_view domain, Alignment alignment) noexcept {
  return std::ranges::any_of(need.domains,
                             [&](const Domain& wanted) { return aligned(domain, wanted.view(), alignment); });
}

// How often h= names a field.
std::size_t times_signed(const SignatureTags& tags, std::string_view name) noexcept {
  std::size_t times = 0;
  std::string_view rest = tag(tags, 'h') ? std::string_view(*tag(tags, 'h')) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (ascii::equal_ignoring_case(rest.substr(0, end), name)) ++times;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return times;
}

std::size_t times_present(const VerifyRequest& request, std::string_view name) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(request.header, [name](std::string_view field) { return is_field(field, name); }));
}

bool has_unsigned_addition(const VerifyRequest& request, const SignatureTags& tags) noexcept {
  return std::ranges::any_of(kSingleFields, [&](std::string_view name) {
    const std::size_t present = times_present(request, name);
    return present > 1 && times_signed(tags, name) < present;
  });
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
  return name == "rsa-sha256" || name == "ed25519-sha256";
}

// What makes a signature worthless from the start; pass: nothing.
SignatureOutcome find_fault(const VerifyRequest& request, const VerifyRules& rules,
                            const SignatureCandidate& candidate) {
  const SignatureTags& tags = candidate.tags;
  const std::string_view domain = candidate.signature.domain;
  if (candidate.signature.selector.empty()) return Outcome::malformed_signature;
  if (signature_can_forge_results(value_of(request.header[candidate.field]))) return Outcome::malformed_signature;
  if (!tag(tags, 'a') || !tag(tags, 'b') || !tag(tags, 'h')) return Outcome::malformed_signature;
  if (!is_known_algorithm(*tag(tags, 'a'))) return Outcome::weak_algorithm;
  if (const auto& identity = tag(tags, 'i'); identity && is_foreign(*identity, domain)) {
    return Outcome::foreign_identity;
  }
  const std::size_t times = times_signed(tags, "From");
  if (times == 0) return Outcome::from_not_signed;
  if (rules.require_oversigned && times <= times_present(request, "From")) return Outcome::from_not_oversigned;
  return has_unsigned_addition(request, tags) ? Outcome::field_added : Outcome::pass;
}

// The selector, if it is a name that can be looked up.
std::string selector_of(const SignatureTags& tags, std::string_view domain) {
  const std::optional<std::string>& text = tag(tags, 's');
  if (!text || !is_plain_name(*text) || text->size() + kKeyZone.size() + domain.size() > kMaxNameBytes) return {};
  return *text;
}

}  // namespace

bool SignatureChoice::is_empty() const noexcept {
  return std::ranges::none_of(candidates, &SignatureCandidate::is_worth_verifying);
}

Signatures SignatureChoice::outcome() && {
  Signatures found;
  for (SignatureCandidate& each : candidates) found.all.push_back(std::move(each.signature));
  return found;
}

bool is_field(std::string_view field, std::string_view name) noexcept {
  return ascii::equal_ignoring_case(ascii::trimmed_back(field.substr(0, field.find(':')), " \t"), name);
}

SignatureChoice choose_signatures(const VerifyRequest& request, const VerifyRules& rules) {
  SignatureChoice choice;
  std::size_t signatures = 0;
  for (std::size_t field = 0; field < request.header.size(); ++field) {
    if (!is_field(request.header[field], kSignatureField)) continue;
    ++signatures;
    if (choice.candidates.size() == kMaxVerifiedSignatures) continue;
    auto tags = tags_of(request.header[field]);
    if (!tags) continue;
    const std::string domain = domain_of(*tags);
    if (domain.empty() || !is_wanted(request.need, domain, rules.alignment)) continue;
    SignatureCandidate& candidate = choice.candidates.emplace_back();
    candidate.field = field;
    candidate.tags = std::move(*tags);
    candidate.signature.domain = domain;
    candidate.signature.selector = selector_of(candidate.tags, domain);
    const SignatureOutcome fault = find_fault(request, rules, candidate);
    candidate.is_worth_verifying = fault == SignatureOutcome::pass;
    if (!candidate.is_worth_verifying) candidate.signature.outcome = fault;
  }
  choice.needs_other_signatures =
      signatures <= kMaxOtherSignatures && std::ranges::any_of(choice.candidates, [](const auto& each) {
        return each.is_worth_verifying && times_signed(each.tags, kSignatureField) != 0;
      });
  return choice;
}

}  // namespace bloomgate
