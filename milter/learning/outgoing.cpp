#include "milter/learning/outgoing.hpp"

#include "filter/mail/automatic_mail.hpp"
#include "milter/policy/look_up.hpp"
#include "milter/policy/opt_out.hpp"

namespace bloomgate {
namespace {

// Whether `address` is revoked, for all users or for this one.
bool is_revoked(const Entry& address, const Entry& user, const Lists& lists) noexcept {
  if (lists.revoked == nullptr) return lists.revoked_is_configured;
  const TagSeparators separators = separators_of_revoked(lists);
  return lists.revoked->find(address, separators).is_listed() ||
         lists.revoked->find_pair(address, user, separators, separators).is_listed();
}

}  // namespace

Entry user_of(std::string_view path, const Policy& policy) noexcept {
  return canonicalize_path(path, {.tag_separators = policy.recipient_delimiter});
}

Lesson lesson_of(const Facts& facts, const Lists& lists, const Policy& policy, const LessonRules& rules) {
  if (!facts.envelope_sender || facts.is_automatic || !facts.recipients.are_known()) return {};
  if (facts.recipients.paths.size() > rules.most_recipients) return {};
  const bool is_exempt = rules.from_exempt && policy.is_exempt_client(facts.origin.client);
  if (!facts.origin.logged_in && !is_exempt) return {};
  const Entry user = user_of(*facts.envelope_sender, policy);
  if (user.kind() != EntryKind::address || !policy.own_domains.find(user).is_listed()) return {};
  if (has_opted_out(lists, user, policy.recipient_delimiter)) return {};
  Lesson lesson = {.user = std::string(user.key())};
  if (!facts.origin.logged_in) lesson.exempt_client = facts.origin.client;
  for (const std::string_view path : facts.recipients.paths) {
    const Entry recipient = canonicalize_path(path);
    if (recipient.kind() != EntryKind::address || policy.own_domains.find(recipient).is_listed()) continue;
    if (is_of_program(recipient.local_part())) continue;
    if (!is_revoked(recipient, user, lists)) lesson.correspondents.emplace_back(recipient.key());
  }
  return lesson;
}

}  // namespace bloomgate
