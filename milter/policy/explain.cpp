#include "milter/policy/explain.hpp"

#include <algorithm>
#include <limits>

#include "filter/base/printable.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kNameColumns = 19;

std::string escaped(std::string_view text) {
  return printable_word(text, std::numeric_limits<std::size_t>::max());
}

std::string columns(std::string_view name) {
  std::string text(name);
  text.resize(std::max(text.size() + 1, kNameColumns), ' ');
  return text;
}

std::string line_of(const TraceStep& step) {
  std::string line = columns(step.name) + escaped(step.outcome);
  if (!step.subject.empty() || !step.key.empty() || !step.entry.empty() || !step.proof.empty()) line += ' ';
  if (!step.subject.empty()) line += " subject=" + escaped(step.subject);
  if (!step.key.empty()) line += " key=" + escaped(step.key);
  if (!step.entry.empty()) line += " entry=" + escaped(step.entry);
  if (!step.proof.empty()) line.append(" proof=").append(step.proof);
  return line + '\n';
}

// For a mailing list for which no signer spoke.
std::string hint_of_mailing_list(const Decision& decision) {
  if (!decision.signer.view().empty() || decision.entry.view().empty()) return {};
  return "the mailing list is an entry, and no domain that may speak for it has signed the message. Its host may, but "
         "an organisational domain, in which every user could write such a List-Id, only if it is named: the entry '" +
         escaped(decision.entry.view()) + " signed-by DOMAIN' lets that domain speak for the list.";
}

std::string hint_of_child(const Decision& decision) {
  const ChildSigner& child = decision.child_signer;
  const std::string parent = escaped(child.parent());
  const std::string signer = escaped(child.domain.view()) + ", a name below " + parent;
  std::string text = (child.is_verified ? "a trusted milter found a good signature of " + signer
                                        : "the message has a signature of " + signer) +
                     ", which does not count under this alignment.";
  // Such an entry lists the From mailbox, but no envelope sender.
  if (!decision.is_envelope_alone) {
    text += " The entry '@" + parent + " signed-by " + escaped(child.domain.view()) +
            "', or the same with one address, lets that name alone sign for it.";
  }
  text += " alignment = relaxed lets it count ";
  text += child.is_verified ? "if a trusted milter also wrote dmarc=pass" : "if it is good";
  return text + ". Then every name of the organisation may sign for " + parent +
         ", also a name that its owner has given to somebody else, unless a DMARC record forbids that (adkim=s) or "
         "ends "
         "the organisation between the two (psd=n, psd=y).";
}

std::string hint_of_added(WatchedField field) {
  return "a signature does not count, since it does not cover the field " + std::string(field_name(field)) +
         " that is there: anybody may have added or changed it. Its owner can sign that field.";
}

std::string hint_of_envelope(const Decision& decision) {
  if (decision.entry.view().empty()) {
    return "the envelope sender is listed as an address, and From is another mailbox. It counts if From is the same "
           "mailbox and its domain is proven, or if trusted results have a pass of SPF and spf-proves is 'address'.";
  }
  return "the envelope sender is listed by its domain, and the entry '" + escaped(decision.entry.view()) +
         "' does not have the From mailbox. It counts if the entry has both and the domain has signed the message, or "
         "if trusted results have a pass of SPF.";
}

// What an operator can do for a checked message of a listed sender; empty: no advice is known here.
std::string hint(const Decision& decision) {
  if (!decision.child_signer.is_none()) return hint_of_child(decision);
  if (decision.reason != Reason::not_authenticated && decision.reason != Reason::authentication_failed) return {};
  const auto added = decision.signature ? added_field(*decision.signature) : std::nullopt;
  if (added) return hint_of_added(*added);
  if (decision.identity == IdentityKind::mailing_list) return hint_of_mailing_list(decision);
  return decision.is_envelope_alone ? hint_of_envelope(decision) : std::string();
}

}  // namespace

std::string explanation_text(const Trace& trace, const Decision& decision, std::string_view host, CheckMark check_mark,
                             std::string_view why) {
  std::string text = why.empty() ? std::string() : std::string(why) + "\n\n";
  for (const TraceStep& step : trace.steps()) text += line_of(step);
  if (!trace.is_complete()) text += "(steps are missing: there was no memory for them)\n";
  text += columns("mark") + (decision.is_marked ? header_value(decision, host, check_mark) : "none") + '\n';
  if (const std::string line = hint(decision); !line.empty()) text += columns("hint") + line + '\n';
  text.append("decision: ").append(verdict_name(decision.verdict));
  return text.append(" reason=").append(reason_name(decision.reason)).append("\n");
}

Json explanation(const Trace& trace, const Decision& decision, std::string_view host, CheckMark check_mark,
                 std::string_view why) {
  Json steps = Json::array();
  for (const TraceStep& step : trace.steps()) {
    steps.push_back({{"step", step.name},
                     {"subject", escaped(step.subject)},
                     {"key", escaped(step.key)},
                     {"outcome", escaped(step.outcome)},
                     {"entry", escaped(step.entry)},
                     {"proof", step.proof}});
  }
  const bool has_fault = decision.sender_fault != RejectReason::none;
  return {
      {"decision", verdict_name(decision.verdict)},
      {"reason", reason_name(decision.reason)},
      {"identity", identity_kind_name(decision.identity)},
      {"authentication", method_name(decision.method)},
      {"proof", proof_name(decision.proof)},
      {"whitelist", decision.list.view()},
      {"entry", decision.entry.view()},
      {"signer", decision.signer.view()},
      {"child_signer", escaped(decision.child_signer.domain.view())},
      {"child_of", escaped(decision.child_signer.parent())},
      {"hint", hint(decision)},
      {"why", why},
      {"confirmed", decision.confirmation ? confirmation_name(*decision.confirmation) : std::string_view()},
      {"fault", has_fault ? reject_reason_name(decision.sender_fault) : std::string_view()},
      {"mark", decision.is_marked ? Json(header_value(decision, host, check_mark)) : Json()},
      {"complete", trace.is_complete()},
      {"steps", steps},
  };
}

std::string explanation_json(const Trace& trace, const Decision& decision, std::string_view host, CheckMark check_mark,
                             std::string_view why) {
  return explanation(trace, decision, host, check_mark, why).dump(-1) + '\n';
}

}  // namespace bloomgate
