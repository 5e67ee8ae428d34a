#include "milter/why/known_decision.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "filter/address/address.hpp"
#include "filter/base/printable.hpp"
#include "milter/fields/rewritten_sender.hpp"

namespace bloomgate {
namespace {

// A value that is a single word in a line; a dash stands for none.
std::string word(std::string_view text) {
  return text == "-" ? std::string() : printable(text);
}

std::string without_brackets(std::string path) {
  return path.size() > 2 && path.starts_with('<') && path.ends_with('>') ? path.substr(1, path.size() - 2) : path;
}

// The enumerator of that name, in an enumeration that begins with 0.
template <typename Enum>
std::optional<Enum> named(std::string_view name, std::size_t count, std::string_view (*name_of)(Enum)) {
  for (std::size_t i = 0; i < count; ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

std::optional<AuthenticationMethod> method_of(std::string_view name) noexcept {
  for (const auto method : {AuthenticationMethod::dkim, AuthenticationMethod::spf, AuthenticationMethod::dmarc,
                            AuthenticationMethod::arc}) {
    if (method_name(method) == name) return method;
  }
  return std::nullopt;
}

std::uint16_t number_of(std::string_view text) noexcept {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? value : std::uint16_t{0};
}

// The bytes that were passed to as_logged(); nothing if the daemon has truncated them.
std::optional<std::string> unescaped(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (!text.starts_with('\\')) {
      bytes += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::uint8_t byte = 0;
    if (!text.starts_with("\\x") || text.size() < 4) return std::nullopt;
    const char* const end = text.data() + 4;
    if (std::from_chars(text.data() + 2, end, byte, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(byte);
    text.remove_prefix(4);
  }
  return bytes;
}

// The original sender, if the decision of a line is about it: not if an entry lists the forwarder's domain.
std::string behind_of(const KnownDecision& known) {
  if (known.identity != IdentityKind::envelope) return {};
  std::string behind = named_behind(known.sender);
  if (behind.empty() || known.entry.empty()) return behind;
  const bool lists_outer = is_below_entry(known.entry, mailbox_of(known.sender).domain());
  const bool lists_behind = is_below_entry(known.entry, mailbox_of(behind).domain());
  return lists_outer && !lists_behind ? std::string() : behind;
}

// Whether the From mailbox certainly differs from an envelope sender who is listed by address, or is certainly not
// covered by the domain entry that lists the sender. A line does not say that itself, nor which tags the whitelist
// ignores.
bool is_envelope_alone(const KnownDecision& known) {
  if (known.identity != IdentityKind::envelope || known.sender.empty()) return false;
  if (known.header_from.empty()) return true;
  const Entry from = mailbox_of(known.header_from);
  const Entry sender = mailbox_of(known.behind.empty() ? known.sender : known.behind);
  if (!from.is_key() || !sender.is_key()) return false;
  if (!known.entry.empty()) return !is_below_entry(known.entry, from.domain());
  if (from.key() == sender.key()) return false;
  // The sender's domain has signed, and the daemon did not accept that as a proof.
  if (known.signature == SignatureOutcome::pass) return true;
  const AddressProfile any_tag = {.tag_separators = TagSeparators::from_bits(TagSeparators::kAllBits)};
  return canonicalize_path(from.key(), any_tag).key() != canonicalize_path(sender.key(), any_tag).key();
}

}  // namespace

Entry mailbox_of(std::string_view logged) {
  const std::optional<std::string> bytes = unescaped(logged);
  return bytes ? canonicalize_path(*bytes) : Entry();
}

bool is_below_entry(std::string_view entry, std::string_view domain) {
  if (!entry.starts_with("@.")) return '@' + std::string(domain) == entry;
  return ('.' + std::string(domain)).ends_with(entry.substr(1));
}

std::string as_logged(std::string_view text) {
  return printable_word(text, std::numeric_limits<std::size_t>::max());
}

std::string named_behind(std::string_view logged) {
  const std::optional<std::string> path = unescaped(logged);
  if (!path) return {};
  const Entry sender = canonicalize_path(*path);
  if (sender.kind() != EntryKind::address) return {};
  std::vector<std::string> forwarders = {std::string(sender.domain())};
  // SRS1=hash=first==…: the case of the key is folded.
  for (std::string_view fields = sender.local_part(); !fields.empty();) {
    const std::string_view field = fields.substr(0, fields.find('='));
    forwarders.emplace_back(field);
    fields.remove_prefix(std::min(field.size() + 1, fields.size()));
  }
  return as_logged(undo_rewriting(*path, forwarders).path());
}

std::optional<KnownDecision> known_of_line(const DecisionLine& line) {
  constexpr std::size_t kConfirmations = static_cast<std::size_t>(Confirmation::unreadable) + 1;
  const std::optional<Reason> reason = named<Reason>(line.reason, kReasonCount, reason_name);
  if (!reason || line.outcome == Outcome::refuse) return std::nullopt;
  KnownDecision known = {
      .verdict = line.decision == verdict_name(Verdict::deliver) ? Verdict::deliver : Verdict::check,
      .reason = *reason,
      .identity = named<IdentityKind>(line.identity, kIdentityKinds, identity_kind_name).value_or(IdentityKind::none),
      .sender = without_brackets(word(line.sender)),
      .header_from = word(line.header_from),
      .method = method_of(line.authentication),
      .list = word(line.whitelist),
      .entry = word(line.entry),
      .signer = word(line.signer),
      .child_signer = word(line.child_signer),
      .child_of = word(line.child_of),
      .signature = named<SignatureOutcome>(line.dkim, kSignatureOutcomes, signature_outcome_name),
      .signature_domain = word(line.domain),
      .signature_selector = word(line.selector),
      .for_recipients = {.recipients = number_of(line.recipients), .listed = number_of(line.listed_for)},
      .confirmation = named<Confirmation>(line.confirmed, kConfirmations, confirmation_name),
      .sender_fault =
          named<RejectReason>(line.fault, kRejectReasonCount, reject_reason_name).value_or(RejectReason::none),
  };
  for (const std::string_view signer : line.signed_by) {
    if (!signer.empty()) known.signed_by.push_back(word(signer));
  }
  known.behind = behind_of(known);
  const bool lacks_proof = *reason == Reason::not_authenticated || *reason == Reason::authentication_failed;
  known.is_envelope_alone = lacks_proof && is_envelope_alone(known);
  return known;
}

KnownDecision known_of_decision(const Decision& decision, const Facts& facts, const Trace& trace) {
  KnownDecision known = {
      .verdict = decision.verdict,
      .reason = decision.reason,
      .identity = decision.identity,
      .sender = without_brackets(as_logged(facts.envelope_sender.value_or(""))),
      .header_from = as_logged(facts.header_from.address),
      .method = decision.method,
      .list = as_logged(decision.list.view()),
      .entry = as_logged(decision.entry.view()),
      .signer = as_logged(decision.signer.view()),
      .child_signer = as_logged(decision.child_signer.domain.view()),
      .child_of = as_logged(decision.child_signer.parent()),
      .signature = decision.signature,
      .for_recipients = decision.for_recipients,
      .confirmation = decision.confirmation,
      .sender_fault = decision.sender_fault,
      .is_envelope_alone = decision.is_envelope_alone,
  };
  for (const TraceStep& step : trace.steps()) {
    const bool is_about_behind = known.identity == IdentityKind::envelope && step.name == "rewritten-sender";
    if (is_about_behind && step.outcome == "undone") known.behind = as_logged(step.subject);
    // The last step is that of the entry.
    if (known.reason == Reason::revoked && step.name == "revoked") {
      known.revoked_by = printable(step.entry.empty() ? step.key : step.entry);
    }
  }
  if (!facts.signatures) return known;
  const std::vector<Signature>& all = facts.signatures->all;
  const auto shown_one = std::ranges::find(all, known.signature.value_or(SignatureOutcome::pass), &Signature::outcome);
  if (shown_one != all.end()) {
    known.signature_domain = as_logged(shown_one->domain);
    known.signature_selector = as_logged(shown_one->selector);
  }
  if (all.empty() && facts.grounds != nullptr) {
    for (const std::string_view signer : facts.grounds->signers()) known.signed_by.push_back(as_logged(signer));
  }
  return known;
}

}  // namespace bloomgate
