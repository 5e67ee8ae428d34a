#include "milter/why/signature_words.hpp"

#include <algorithm>
#include <array>

namespace bloomgate {
namespace {

struct Row {
  SignatureOutcome outcome;
  std::string_view cause, remedy;
};

// {signature}: "the signature of example.org"; {owner}: "the owner of example.org"; {field}: "Reply-To"; {sender}: the
// sender's domain; {key}: where the key is in the DNS.
constexpr std::string_view kNewMessage = "A message that is sent now, with a new signature, would change that.";
constexpr std::string_view kUnchanged =
    "A message that no server or mailing list changes after it was signed would change that.";
constexpr std::string_view kOwnersKey = "{owner} has to repair the key {key}.";
constexpr std::string_view kAgain = "The same message, sent again, may be decided otherwise.";

constexpr std::array kRows = {
    Row{SignatureOutcome::pass, "{signature} is good, but does not prove this sender",
        "A signature of {sender} would change that."},
    Row{SignatureOutcome::no_signature, "it has no signature of {sender}",
        "A signature of {sender} would change that."},
    Row{SignatureOutcome::header_too_large, "its header is larger than what is kept to verify signatures",
        "A message with a smaller header would change that."},
    Row{SignatureOutcome::body_too_large, "its body is larger than what is verified",
        "A smaller message would change that."},
    Row{SignatureOutcome::line_too_long, "a line of its body is longer than what is verified",
        "A message with shorter lines would change that."},
    Row{SignatureOutcome::malformed_signature, "{signature} is malformed", "{owner} has to repair the signing."},
    Row{SignatureOutcome::weak_algorithm, "{signature} uses a weak or unknown algorithm",
        "A signature by rsa-sha256 or ed25519-sha256 would change that; {owner} chooses it."},
    Row{SignatureOutcome::from_not_signed, "{signature} does not cover From",
        "A signature that covers From would change that; {owner} chooses the fields."},
    Row{SignatureOutcome::from_not_oversigned,
        "{signature} does not rule out a second From field, and the option require-oversigned asks for that",
        "A signature that names From once more than it occurs would change that, or require-oversigned = no."},
    Row{SignatureOutcome::foreign_identity, "{signature} names a user (i=) outside its own domain (d=)",
        "{owner} has to repair the signing."},
    Row{SignatureOutcome::expired, "{signature} has expired", kNewMessage},
    Row{SignatureOutcome::not_yet_valid, "{signature} was made in the future by this machine's clock",
        "The clocks of this machine and of the sender's server have to agree."},
    Row{SignatureOutcome::too_old,
        "{signature} is older than the option max-signature-age allows, or does not say when it was made", kNewMessage},
    Row{SignatureOutcome::body_not_covered, "{signature} leaves a part of the body unsigned (l=)",
        "A signature of the whole body would change that; {owner} has to leave l= out."},
    Row{SignatureOutcome::header_changed, "{signature} does not fit its header, which was changed, or is forged",
        kUnchanged},
    Row{SignatureOutcome::body_changed, "{signature} does not fit its body, which was changed", kUnchanged},
    Row{SignatureOutcome::key_not_found, "the DNS has no key for {signature}", "{owner} has to publish the key {key}."},
    Row{SignatureOutcome::several_keys, "the DNS has several keys where {signature} has one",
        "{owner} has to keep one record at {key}."},
    Row{SignatureOutcome::key_malformed, "the key of {signature} is malformed", kOwnersKey},
    Row{SignatureOutcome::key_too_long, "the key record of {signature} is too long", kOwnersKey},
    Row{SignatureOutcome::key_too_short, "the key of {signature} has less than 1024 bits",
        "{owner} has to sign by a longer key."},
    Row{SignatureOutcome::key_revoked, "the owner has revoked the key of {signature}",
        "{owner} has to sign by a key that is in use."},
    Row{SignatureOutcome::key_in_test_mode, "the key of {signature} is in test mode (t=y), so it proves nothing",
        "{owner} has to remove t=y from the key {key}."},
    Row{SignatureOutcome::key_not_for_this, "the key of {signature} is for another use, hash or algorithm", kOwnersKey},
    Row{SignatureOutcome::subdomain_not_allowed,
        "{signature} is for a domain below it, and its key does not allow that (t=s)",
        "{owner} has to remove t=s from the key {key}, or to sign for the domain itself."},
    Row{SignatureOutcome::other_domain_not_allowed,
        "{signature} is good, but the DMARC records do not let it sign for {sender}",
        "A signature of {sender} would change that."},
    Row{SignatureOutcome::name_server_failed, "the name server failed when it was asked for the key of {signature}",
        "See whether the name servers answer: bloomgate-milter doctor. The same message, sent again, may be decided "
        "otherwise."},
    Row{SignatureOutcome::name_timeout, "the key of {signature} did not come in time (option dns-timeout)",
        "See whether the name servers answer: bloomgate-milter doctor. The same message, sent again, may be decided "
        "otherwise."},
    Row{SignatureOutcome::dnssec_bogus, "DNSSEC says that the answer with the key of {signature} is forged",
        "{owner} has to repair the DNSSEC of that zone, unless somebody changes answers on their way to you."},
    Row{SignatureOutcome::too_busy, "too many other messages waited for the verifier of signatures", kAgain},
    Row{SignatureOutcome::verifier_failed, "the verifier of signatures failed",
        "The daemon's log says what failed. The same message, sent again, may be decided otherwise."},
    Row{SignatureOutcome::verifier_timeout, "the verifier of signatures did not answer in time", kAgain},
};

// The text for any field that a signature leaves open.
constexpr Row kOfAddedField = {
    {},
    "{signature} does not cover the field {field} that is there, so anybody may have added or changed it",
    "A signature that covers {field} would change that; the sender's server makes it."};

constexpr const Row& row_of(SignatureOutcome outcome) noexcept {
  const auto* const found = std::ranges::find(kRows, outcome, &Row::outcome);
  return found == kRows.end() ? kOfAddedField : *found;
}
static_assert(kRows.size() == kSignatureOutcomes - kWatchedFields);

void replace(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string of_domain(std::string_view thing, std::string_view domain) {
  return domain.empty() ? "its " + std::string(thing) : "the " + std::string(thing) + " of " + std::string(domain);
}

}  // namespace

SignatureWords signature_words(SignatureOutcome outcome, std::string_view domain, std::string_view selector,
                               std::string_view sender_domain) {
  const Row& row = row_of(outcome);
  const auto added = added_field(outcome);
  const bool has_key = !domain.empty() && !selector.empty();
  const auto filled = [&](std::string_view form) {
    std::string text(form);
    replace(text, "the key {key}", has_key ? "the key {key}" : "its key");
    replace(text, "at {key}", has_key ? "at {key}" : "for its key");
    if (has_key) replace(text, "{key}", std::string(selector) + "._domainkey." + std::string(domain));
    replace(text, "{signature}", of_domain("signature", domain));
    replace(text, "{owner}", domain.empty() ? "the owner of the signing domain" : of_domain("owner", domain));
    replace(text, "{field}", added ? field_name(*added) : std::string_view());
    replace(text, "{sender}", sender_domain.empty() ? "the sender's domain" : sender_domain);
    return text;
  };
  SignatureWords words = {.cause = filled(row.cause), .remedy = filled(row.remedy)};
  if (words.remedy.starts_with("the ")) words.remedy.front() = 'T';
  return words;
}

}  // namespace bloomgate
