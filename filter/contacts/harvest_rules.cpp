#include "filter/contacts/harvest_rules.hpp"

#include "filter/address/domain_tree.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/mail/automatic_mail.hpp"

namespace bloomgate {

OwnDomains::OwnDomains(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Entry entry = canonicalize_line(name.starts_with('@') ? name : "@" + name);
    if (entry.kind() != EntryKind::domain && entry.kind() != EntryKind::domain_tree) {
      throw UsageError(
          "--own-domain takes a domain such as example.net, or .example.net for all below it as well, not '" + name +
          "'");
    }
    keys_.emplace(entry.key());
  }
}

bool OwnDomains::contains(std::string_view domain) const noexcept {
  const auto is_key = [this](std::string_view key) { return keys_.contains(key); };
  std::array<char, kMaxKeyBytes> key = {'@'};
  if (domain.size() >= key.size()) return false;
  std::ranges::copy(domain, key.begin() + 1);
  return is_key({key.data(), 1 + domain.size()}) || !find_domain_tree(domain, is_key).empty();
}

std::string_view OwnDomains::only() const noexcept {
  if (keys_.size() != 1 || keys_.begin()->starts_with("@.")) return {};
  return std::string_view(*keys_.begin()).substr(1);
}

BloomgateError unknown_user(std::string_view source) {
  return {ErrorCode::bad_argument, std::string(source) +
                                       " does not say whose it is; name its user by --user, or its place by a pattern "
                                       "such as /home/%u/Maildir/.Sent, or give --for-all"};
}

bool add_contact(const Entry& contact, Users users, const MessageMark& message, const HarvestRules& rules,
                 HarvestCounts& counts, ContactSink& sink) {
  if (contact.kind() != EntryKind::address) {
    counts.leave_out(LeftOut::unreadable);
    return false;
  }
  if (rules.own_domains.contains(contact.domain())) {
    counts.leave_out(LeftOut::own_domain);
    return false;
  }
  if (is_of_program(contact.local_part())) {
    counts.leave_out(LeftOut::program);
    return false;
  }
  for (const std::string& user : users) sink.add(contact.key(), user, message);
  ++counts.contacts;
  return true;
}

}  // namespace bloomgate
