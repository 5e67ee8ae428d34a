#include "milter/policy/decide.hpp"

namespace bloomgate {
namespace {

Decision check(Reason reason) noexcept {
  return {Verdict::check, reason};
}
Decision deliver(Reason reason) noexcept {
  return {Verdict::deliver, reason};
}

Decision decide_match(Match match) noexcept {
  switch (match) {
    case Match::none:
      return check(Reason::not_listed);
    case Match::address:
      return deliver(Reason::listed);
    case Match::domain:
      return deliver(Reason::listed_domain);
    case Match::domain_tree:
      return deliver(Reason::listed_domain_tree);
  }
  return check(Reason::internal_error);
}

Decision decide_sender(std::string_view path, const FilterView& filter) noexcept {
  // The key is made as the file says: its builder made the entries that way.
  const Entry sender = canonicalize_path(path, filter.shape().profile);
  switch (sender.kind()) {
    case EntryKind::address:
      return decide_match(filter.find(sender));
    case EntryKind::null_sender:
      return check(Reason::null_sender);
    case EntryKind::rejected:
      return {Verdict::check, Reason::malformed_sender, sender.reason()};
    case EntryKind::blank:
    case EntryKind::domain:
    case EntryKind::domain_tree:
      break;  // lines of a list, which a path never is
  }
  return check(Reason::internal_error);
}

}  // namespace

Decision decide(const Facts& facts, const Whitelist* whitelist) noexcept {
  if (whitelist == nullptr) return check(Reason::no_whitelist);
  if (whitelist->damaged()) return check(Reason::whitelist_damaged);
  if (!facts.envelope_sender) return check(Reason::no_sender);
  const Decision decision = decide_sender(*facts.envelope_sender, whitelist->view());
  // That very look-up may have been the one to meet the damage.
  return whitelist->damaged() ? check(Reason::whitelist_damaged) : decision;
}

std::string_view verdict_name(Verdict verdict) noexcept {
  return verdict == Verdict::deliver ? "deliver" : "check";
}

std::string_view reason_name(Reason reason) noexcept {
  switch (reason) {
    case Reason::listed:
      return "listed";
    case Reason::listed_domain:
      return "listed-domain";
    case Reason::listed_domain_tree:
      return "listed-domain-tree";
    case Reason::not_listed:
      return "not-listed";
    case Reason::null_sender:
      return "null-sender";
    case Reason::malformed_sender:
      return "malformed-sender";
    case Reason::no_sender:
      return "no-sender";
    case Reason::no_whitelist:
      return "no-whitelist";
    case Reason::whitelist_damaged:
      return "whitelist-damaged";
    case Reason::internal_error:
      return "internal-error";
  }
  return "internal-error";
}

}  // namespace bloomgate
