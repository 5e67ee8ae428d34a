#include "milter/policy/header_field.hpp"

namespace bloomgate {
namespace {

// In the mark it replaces each reason that depends on the lists, unless a reason that does not is known.
constexpr std::string_view kNotProven = "not-proven";

// What outsiders may learn.
std::string plain_value(const Decision& decision, std::string_view host) {
  std::string value(verdict_name(decision.verdict));
  const std::optional<PublicReason>& known = decision.public_reason;
  value.append("; reason=").append(known ? reason_name(known->reason) : kNotProven);
  value.append("; host=").append(host);
  if (!known || known->identity == IdentityKind::none) return value;
  value.append("; identity=").append(identity_kind_name(known->identity));
  if (known->signature) value.append("; dkim=").append(signature_outcome_name(*known->signature));
  return value;
}

}  // namespace

std::string header_value(const Decision& decision, std::string_view host, CheckMark check_mark) {
  if (check_mark == CheckMark::plain && decision.verdict == Verdict::check && depends_on_lists(decision.reason)) {
    return plain_value(decision, host);
  }
  std::string value(verdict_name(decision.verdict));
  value.append("; reason=").append(reason_name(decision.reason));
  value.append("; host=").append(host);
  if (decision.identity == IdentityKind::none) return value;
  value.append("; identity=").append(identity_kind_name(decision.identity));
  const std::string_view list = decision.list.view();
  if (decision.method || !list.empty()) value.append("; authentication=").append(method_name(decision.method));
  if (const std::string_view proof = told_proof(decision); !proof.empty()) value.append("; proof=").append(proof);
  if (!list.empty()) value.append("; whitelist=").append(list);
  // A false positive is not revealed: a reader of the mark could try the address on another server that has only the
  // whitelist.
  if (decision.confirmation == Confirmation::yes) value.append("; confirmed=yes");
  if (!decision.entry.view().empty()) value.append("; entry=").append(decision.entry.view());
  if (!decision.signer.view().empty()) value.append("; signer=").append(decision.signer.view());
  if (decision.signature) value.append("; dkim=").append(signature_outcome_name(*decision.signature));
  return value;
}

}  // namespace bloomgate
