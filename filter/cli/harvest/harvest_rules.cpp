#include "filter/cli/harvest/harvest_rules.hpp"

#include "filter/address/domain_tree.hpp"
#include "filter/base/error.hpp"
#include "filter/cli/command_line.hpp"

namespace bloomgate::cli {

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

bool add_contact(const Entry& contact, std::string_view user, const HarvestRules& rules, HarvestCounts& counts,
                 ContactSink& sink) {
  if (contact.kind() != EntryKind::address) {
    counts.leave_out(LeftOut::unreadable);
    return false;
  }
  if (rules.own_domains.contains(contact.domain())) {
    counts.leave_out(LeftOut::own_domain);
    return false;
  }
  if (user.empty()) {
    throw BloomgateError(ErrorCode::bad_argument,
                         "an address book does not say whose it is; name its user by --user, or give --for-all");
  }
  sink.add(contact.key(), user);
  ++counts.contacts;
  return true;
}

}  // namespace bloomgate::cli
